"""A bench in a process of its own (this module, run), which may crash or hang without harm."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from rlscope_jax.tune.bench import Bench, CandidateError
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.space import Candidate
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.timing import Effort, Paired

START_LIMIT = 120.0
"""Seconds for the process to start and to make the task."""
PATH = [os.path.abspath(entry) for entry in sys.path]
"""Where the process finds what it starts with: not beside the tasks, where a file may have the name of a
module that it needs."""


class Worker:
    """Answers like a `Bench`, from another process; that is started when needed, and anew after it died.

    Args:
        load_task: makes the task in that process; must be picklable: a function of a module, or a
            `functools.partial` of one.
        limit: seconds that one candidate may take from build to result; may be changed.
        inside_jit: see `Bench`.

    Raises:
        TuneError: `load_task` cannot be pickled.
    """

    def __init__(
        self, load_task: Callable[[], TuneTask], limit: float = 20.0, inside_jit: bool = False
    ) -> None:
        if getattr(getattr(load_task, "func", load_task), "__module__", "") == "__main__":
            raise TuneError(
                "the worker process cannot import a task from __main__: put the function that makes it "
                "into a module"
            )
        try:
            path = [os.path.abspath(entry) for entry in sys.path]
            self._start_message = pickle.dumps((path, pickle.dumps(load_task), inside_jit))
        except Exception as error:
            raise TuneError(f"the task cannot be sent to a worker process: {error}") from error
        self.limit = limit
        self._process: subprocess.Popen[bytes] | None = None

    def reference_seconds(self) -> float:
        """See `Bench`; a process that dies or is too slow is a TuneError too."""
        try:
            return self._ask("reference_seconds")
        except CandidateError as error:
            raise TuneError(f"the reference cannot be timed: {error}") from error

    def measure(self, candidate: Candidate | None, against: Candidate | None, effort: Effort) -> Paired:
        """See `Bench`; a process that dies or is too slow is a CandidateError too."""
        return self._ask("measure", candidate, against, effort)

    def close(self) -> None:
        """End the process, and those that it started."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, *args: Any) -> Any:
        if self._process is None:
            self._start()
        kind, answer = self._exchange(pickle.dumps((method, args)), self.limit)
        if kind == "candidate":
            raise CandidateError(answer)
        if kind == "task":
            raise TuneError(answer)
        return answer

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "rlscope_jax.tune.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(PATH)},
                start_new_session=True,  # Ctrl-C is for the parent
            )
        except OSError as error:
            raise TuneError(f"no worker process can be started: {error}") from error
        kind, answer = self._exchange(self._start_message, START_LIMIT)
        if kind != "ready":
            self.close()
            raise TuneError(f"the worker process could not make the task: {answer}")

    def _exchange(self, message: bytes, limit: float) -> tuple[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, message)
            return pickle.loads(_receive(process.stdout, time.monotonic() + limit))
        except (BrokenPipeError, EOFError):
            end = _end_of(process)
            self.close()
            return "candidate", f"the process died ({end})"
        except TimeoutError:
            self.close()
            return "candidate", f"not done after {limit:g} s"
        except BaseException:  # an answer that comes later must not be taken for that of the next question
            self.close()
            raise


def _end_of(process: subprocess.Popen[bytes]) -> str:
    """In words how a process ended whose pipes are closed."""
    try:
        code = process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return "it closed its pipes"
    names = {one.value: one.name for one in signal.Signals}
    return names.get(-code, f"signal {-code}") if code < 0 else f"exit code {code}"


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(8, "little") + message)
    stream.flush()


def _receive(stream: IO[bytes], deadline: float | None = None) -> bytes:
    """One message, as far as the deadline (of the monotonic clock) allows.

    Raises:
        EOFError, TimeoutError: the other side has gone; is too slow.
    """
    return _read(stream, int.from_bytes(_read(stream, 8, deadline), "little"), deadline)


def _read(stream: IO[bytes], count: int, deadline: float | None) -> bytes:
    parts = b""
    while len(parts) < count:
        if deadline is not None:
            ready, _, _ = select.select([stream], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise TimeoutError
        part = os.read(stream.fileno(), count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def main() -> None:
    """Serve one parent until it is gone."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, questions = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb", buffering=0)
    os.dup2(2, 1)  # whatever a candidate prints must not get among the answers,
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # and what it reads must not be a question
    try:
        path, load_task, inside_jit = pickle.loads(_receive(questions))
        sys.path[:] = path
        bench = Bench(pickle.loads(load_task)(), inside_jit)
    except EOFError:
        return
    except Exception as error:
        _send(answers, pickle.dumps(("task", f"{type(error).__name__}: {error}")))
        return
    _send(answers, pickle.dumps(("ready", None)))
    here = os.getpid()
    while True:
        try:
            method, args = pickle.loads(_receive(questions))
        except EOFError:
            return
        try:
            answer = ("result", getattr(bench, method)(*args))
        except CandidateError as error:
            answer = ("candidate", str(error))
        except TuneError as error:
            answer = ("task", str(error))
        if os.getpid() != here:  # a candidate has forked, and this is its child
            os._exit(0)
        _send(answers, pickle.dumps(answer))


def _die_with_parent() -> None:
    """Have the system end this process when the parent ends, however that happens (Linux)."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass


if __name__ == "__main__":
    main()
