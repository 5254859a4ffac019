"""Run a program as `python SCRIPT` or `python -m MODULE` would."""

from __future__ import annotations

import importlib.util
import io
import os
import runpy
import sys
import types
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import NamedTuple

from rlscope_jax.errors import RlscopeError


class ScriptError(RlscopeError):
    """There is no such program to run."""


class Ending(NamedTuple):
    """How a program ended."""

    code: int
    """The exit code that Python would leave with."""
    interrupted: bool = False
    """By Ctrl-C: Python then ends by the signal."""


def run_script(path: str, arguments: Sequence[str]) -> Ending:
    """Run a file as `__main__`, or what standard input holds where the path is "-".

    Raises:
        ScriptError: the file cannot be read, or the directory has no `__main__.py`.
    """
    script = Path(path)
    sys.argv = [path, *arguments]
    if path == "-":
        sys.path[0] = ""
        return _run_as_main(sys.stdin.buffer.read(), "<stdin>")
    if script.is_dir() and not any(script.glob("__main__.py*")):
        raise ScriptError(f"cannot run {path or 'an empty path'}: a directory without __main__.py")
    if script.is_dir() or script.suffix in (".zip", ".pyz"):
        return _run(lambda: runpy.run_path(path, run_name="__main__"))
    place = os.path.abspath(path)
    try:
        with io.open_code(place) as file:
            source = file.read()
    except OSError as error:
        raise ScriptError(f"cannot run {path}: {error.strerror or error}") from error
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    loader = SourceFileLoader("__main__", place)
    return _run_as_main(source, place, __file__=place, __loader__=loader, __cached__=None)


def run_module(name: str, arguments: Sequence[str]) -> Ending:
    """Run a module as `python -m` does.

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
        code,
        spec.origin or name,
        __file__=spec.origin,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )


def _run_as_main(code: types.CodeType | bytes, place: str, **names: object) -> Ending:
    # The module stays `__main__` to the end: threads, pickles and multiprocessing look for it there.
    main = types.ModuleType("__main__")
    main.__dict__.update(names, __builtins__=__builtins__)
    sys.modules["__main__"] = main

    def program() -> None:
        exec(
            compile(code, place, "exec", dont_inherit=True) if isinstance(code, bytes) else code,
            main.__dict__,
        )

    return _run(program)


def _run(program: Callable[[], object]) -> Ending:
    try:
        program()
    except SystemExit as leaving:
        return Ending(_code_of(leaving))
    except BaseException as error:
        traceback = error.__traceback__
        while traceback is not None and _is_ours(traceback):
            traceback = traceback.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return Ending(130, True) if isinstance(error, KeyboardInterrupt) else Ending(1)
    return Ending(0)


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
