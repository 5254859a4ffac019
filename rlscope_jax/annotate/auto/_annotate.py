"""auto_annotate(): name the parts of known libraries, those loaded already and those loaded later."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from rlscope_jax._when_loaded import when_loaded
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
        self.undo.callback(when_loaded(frozenset({*self._of_module, "jax"}), self.loaded))

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
                self.undo.callback(library.prepare().close)
        for patch in library.patches:
            if patch.module == module.__name__:
                self._apply(patch, module)

    def _apply(self, patch: Patch, module: ModuleType) -> None:
        try:
            *owners, attribute = patch.attribute.split(".")
            holder: Any = module
            for owner in owners:
                holder = getattr(holder, owner)
            key = id(holder), attribute
            if key in _patched:
                _patched[key].users += 1
            else:
                own = vars(holder)
                original = own[attribute] if attribute in own else getattr(holder, attribute)
                setattr(holder, attribute, patch.wrap(original, patch.name))
                _patched[key] = _Patched(holder, attribute, original, attribute in own)
            self.undo.callback(_restore, key)
        except Exception as error:
            place = f"{patch.module}.{patch.attribute}"
            _notice(f"{place} stays without a name ({type(error).__name__}: {error})")


@dataclass
class _Patched:
    """An attribute that has been replaced, once for all that asked for it."""

    holder: Any
    attribute: str
    original: Any
    own: bool
    """Whether the holder had it itself, rather than by inheritance."""
    users: int = 1


_patched: dict[tuple[int, str], _Patched] = {}


def _restore(key: tuple[int, str]) -> None:
    """The last of those that asked for a replacement takes it away, in whatever order they leave."""
    patched = _patched[key]
    patched.users -= 1
    if patched.users:
        return
    del _patched[key]
    if patched.own:
        setattr(patched.holder, patched.attribute, patched.original)
    else:
        delattr(patched.holder, patched.attribute)


def _notice(message: str) -> None:
    warnings.warn(f"rlscope_jax.auto_annotate: {message}.", RuntimeWarning, stacklevel=2)
