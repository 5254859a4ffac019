"""Tasks that a person names: `FILE.py:NAME` or `module:NAME`."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.task import TuneTask


def load_tasks(target: str) -> list[TuneTask]:
    """The tasks under a name: a task, several of them, a mapping, or a function that returns such.

    Raises:
        TuneError: there is no such file, module or name; it raises; what it holds are no tasks.
    """
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise TuneError(f"{target!r} names no tasks: write FILE.py:NAME or module:NAME")
    with contextlib.chdir(os.curdir):  # whatever it changes to, a worker process begins here too
        module = _module(place)
        try:
            if not hasattr(module, name):
                raise TuneError(f"{place} has no {name!r}")
            tasks = list(_flat(getattr(module, name)))
        except TuneError:
            raise
        except (Exception, SystemExit) as error:
            raise TuneError(f"{target}: {type(error).__name__}: {error}") from error
    names = Counter(task.name for task in tasks)
    if not tasks:
        raise TuneError(f"{target} holds no tasks")
    if len(names) < len(tasks):
        raise TuneError(f"{target} holds several tasks of the name {names.most_common(1)[0][0]!r}")
    return tasks


def load_task(target: str, name: str) -> TuneTask:
    """One task of `load_tasks`, for a worker process.

    Raises:
        TuneError: as there; or none has this name.
    """
    for task in load_tasks(target):
        if task.name == name:
            return task
    raise TuneError(f"{target} has no task {name!r}")


def _module(place: str) -> Any:
    try:
        if not place.endswith(".py"):
            sys.path[:0] = [] if "" in sys.path else [""]
            return importlib.import_module(place)
        path = Path(place).resolve()
        if not path.is_file():
            raise TuneError(f"there is no file {place}")
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))  # what it imports from beside itself
        name = _module_name(path)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look themselves up there
        spec.loader.exec_module(module)
        return module
    except TuneError:
        raise
    except (Exception, SystemExit) as error:
        raise TuneError(f"{place} cannot be loaded: {type(error).__name__}: {error}") from error


def _module_name(path: Path) -> str:
    """What a file is called among the modules: by its own name, unless another one has that."""
    name = path.stem
    while name in sys.modules and getattr(sys.modules[name], "__file__", None) != str(path):
        name += "_"
    return name


def _flat(found: Any) -> Iterable[TuneTask]:
    if isinstance(found, TuneTask):
        yield found
    elif isinstance(found, Mapping):
        for one in found.values():
            yield from _flat(one)
    elif callable(found):
        yield from _flat(found())
    elif isinstance(found, Iterable) and not isinstance(found, str):
        for one in found:
            yield from _flat(one)
    else:
        raise TuneError(f"{found!r} is no task")
