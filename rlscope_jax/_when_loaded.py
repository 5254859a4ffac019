"""Be told when a module has been loaded, without loading it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def when_loaded(modules: frozenset[str], tell: Callable[[ModuleType], None]) -> Callable[[], None]:
    """Have `tell(module)` called right after each of these modules is loaded; returns what ends it.

    Those loaded already are not told of.
    """
    finder = _Finder(modules, tell)
    sys.meta_path.insert(0, finder)

    def undo() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)

    return undo


class _Finder(MetaPathFinder):
    """Finds modules as ever, and tells when one of those asked for has been loaded."""

    def __init__(self, modules: frozenset[str], tell: Callable[[ModuleType], None]) -> None:
        self._modules, self._tell = modules, tell
        self._within: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module's own spec, its loader telling of the load."""
        if name not in self._modules or name in self._within:
            return None
        self._within.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._within.discard(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._tell(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
