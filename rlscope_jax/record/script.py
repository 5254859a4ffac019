"""Run a program as `python SCRIPT` or `python -m MODULE` would."""

from __future__ import annotations

import io
import os
import runpy
import sys
import threading
import types
from collections.abc import Callable, Sequence
from pathlib import Path

from rlscope_jax.errors import RlscopeError


class ScriptError(RlscopeError):
    """There is no such program to run."""


def run_script(path: str, arguments: Sequence[str]) -> int:
    """Run a file as `__main__`; returns the exit code that Python would leave with.

    Raises:
        ScriptError: the file cannot be read, or is no Python.
    """
    script = Path(path)
    sys.argv = [path, *arguments]
    if script.is_dir() or script.suffix in (".zip", ".pyz"):
        return _exit_code(lambda: runpy.run_path(path, run_name="__main__"))
    try:
        with io.open_code(str(script.absolute())) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    except OSError as error:
        raise ScriptError(f"cannot run {path}: {error.strerror or error}") from error
    except (SyntaxError, ValueError) as error:
        raise ScriptError(f"cannot run {path}: {error}") from error
    # The module stays `__main__` to the end: threads, pickles and multiprocessing look for it there.
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = main
    sys.path[0] = str(script.absolute().parent)
    return _exit_code(lambda: exec(code, main.__dict__))


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module as `python -m` does; returns the exit code."""
    sys.argv = [name, *arguments]
    sys.path[0] = os.getcwd()
    return _exit_code(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def wait_for_threads() -> None:
    """Wait for the threads that Python itself would wait for at its end."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _exit_code(program: Callable[[], object]) -> int:
    try:
        program()
    except SystemExit as leaving:
        return _code_of(leaving)
    except BaseException as error:
        traceback = error.__traceback__
        while traceback is not None and _is_ours(traceback):
            traceback = traceback.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _code_of(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code
    print(leaving.code, file=sys.stderr)
    return 1


def _is_ours(traceback: types.TracebackType) -> bool:
    file = traceback.tb_frame.f_code.co_filename
    return file == __file__ or file == runpy.__file__ or file.startswith("<frozen runpy")
