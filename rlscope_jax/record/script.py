"""Run a program as `python SCRIPT` or `python -m MODULE` would."""

from __future__ import annotations

import importlib.util
import io
import os
import runpy
import sys
import threading
import types
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
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
    place = os.path.abspath(path)
    try:
        with io.open_code(place) as file:
            code = compile(file.read(), place, "exec", dont_inherit=True)
    except OSError as error:
        raise ScriptError(f"cannot run {path}: {error.strerror or error}") from error
    except (SyntaxError, ValueError) as error:
        raise ScriptError(f"cannot run {path}: {error}") from error
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    return _run_as_main(code, __file__=place, __loader__=SourceFileLoader("__main__", place), __cached__=None)


def run_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module as `python -m` does; returns the exit code.

    Raises:
        ScriptError: there is no such module, or it cannot be run.
    """
    sys.path[0] = os.getcwd()
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as error:
        raise ScriptError(f"cannot run {name}: {error}") from error
    read = getattr(spec.loader, "get_code", None) if spec is not None else None
    code = read(spec.name) if spec is not None and read is not None else None
    if spec is None or code is None:
        raise ScriptError(f"cannot run {name}: no module of that name can be run")
    sys.argv = [spec.origin or name, *arguments]
    return _run_as_main(
        code, __file__=spec.origin, __loader__=spec.loader, __package__=spec.parent, __spec__=spec
    )


def _run_as_main(code: types.CodeType, **names: object) -> int:
    # The module stays `__main__` to the end: threads, pickles and multiprocessing look for it there.
    main = types.ModuleType("__main__")
    main.__dict__.update(names, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    return _exit_code(lambda: exec(code, main.__dict__))


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
