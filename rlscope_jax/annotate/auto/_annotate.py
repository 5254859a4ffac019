"""auto_annotate(): name the parts of known libraries, those loaded already and those loaded later."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from rlscope_jax.annotate.auto import brax, flax, gymnasium, gymnax, optax, rejax
from rlscope_jax.annotate.auto._library import Library, Patch

LIBRARIES: dict[str, Library] = {
    library.name: library
    for library in (
        brax.LIBRARY, flax.LIBRARY, gymnasium.LIBRARY, gymnax.LIBRARY, optax.LIBRARY, rejax.LIBRARY,
    )
}  # fmt: skip


def auto_annotate(*libraries: str) -> ExitStack:
    """Make operations of the parts of an RL library that have a name in every algorithm.

    Environment steps and resets, rollouts, advantages, losses, optimizers, networks, replay buffers of brax,
    gymnax, gymnasium, rejax, optax and flax; see the modules of `rlscope_jax.annotate.auto` for which.
    Libraries are not imported for it: one that is imported later is annotated then. Call it before jax
    traces anything.

    Args:
        libraries: which; all that are known if none is named.

    Returns:
        A context manager that takes all names away again when it is left, or when its `close()` is called.

    Raises:
        ValueError: a library of that name is not known.
    """
    for name in libraries:
        if name not in LIBRARIES:
            raise ValueError(f"auto_annotate({name!r}): known are {', '.join(LIBRARIES)}")
    chosen = [LIBRARIES[name] for name in libraries or LIBRARIES]
    return _Annotator(chosen).undo


class _Annotator:
    def __init__(self, libraries: Sequence[Library]) -> None:
        self.undo = ExitStack()
        self._of_module = {module: library for library in libraries for module in library.modules}
        self._prepared: set[str] = set()
        self._waiting: list[ModuleType] = []
        for module in sorted(self._of_module):
            if module in sys.modules:
                self.loaded(sys.modules[module])
        finder = _Finder(frozenset({*self._of_module, "jax"}), self.loaded)
        sys.meta_path.insert(0, finder)
        self.undo.callback(_remove, finder)

    def loaded(self, module: ModuleType) -> None:
        """Annotate a module that has just been loaded; whatever goes wrong, the program goes on.

        Operations need jax, and when it is loaded is the program's to say: it may set variables before.
        """
        if module.__name__ == "jax":
            waiting, self._waiting = self._waiting, []
            for earlier in waiting:
                self._annotate(earlier)
        elif "jax" in sys.modules:
            self._annotate(module)
        else:
            self._waiting.append(module)

    def _annotate(self, module: ModuleType) -> None:
        library = self._of_module[module.__name__]
        if library.name not in self._prepared:
            self._prepared.add(library.name)
            version = library.unfit_version()
            if version is not None:
                _notice(
                    f"{library.name} {version} is none of the versions looked at ({library.since} to before "
                    f"{library.before}): its names are tried all the same"
                )
            if library.prepare is not None:
                library.prepare()
        for patch in library.patches:
            if patch.module == module.__name__:
                self._apply(patch, module)

    def _apply(self, patch: Patch, module: ModuleType) -> None:
        try:
            *owners, attribute = patch.attribute.split(".")
            holder: Any = module
            for owner in owners:
                holder = getattr(holder, owner)
            own = vars(holder)
            original = own[attribute] if attribute in own else getattr(holder, attribute)
            setattr(holder, attribute, patch.wrap(original, patch.name))
            self.undo.callback(_restore, holder, attribute, original, attribute in own)
        except Exception as error:
            place = f"{patch.module}.{patch.attribute}"
            _notice(f"{place} stays without a name ({type(error).__name__}: {error})")


def _restore(holder: Any, attribute: str, original: Any, own: bool) -> None:
    if own:
        setattr(holder, attribute, original)
    else:
        delattr(holder, attribute)


def _remove(finder: MetaPathFinder) -> None:
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)


def _notice(message: str) -> None:
    warnings.warn(f"rlscope_jax.auto_annotate: {message}.", RuntimeWarning, stacklevel=2)


class _Finder(MetaPathFinder):
    """Finds modules as ever, and tells when one of those asked for has been loaded."""

    def __init__(self, modules: frozenset[str], loaded: Callable[[ModuleType], None]) -> None:
        self._modules, self._loaded = modules, loaded
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
            self._loaded(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
