"""Who decides what to try next: one algorithm a file, all behind one interface, found by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.space import Candidate, Space

SEARCHERS = {
    "random": "rlscope_jax.tune.searchers.random:RandomSearcher",
    "evolutionary": "rlscope_jax.tune.searchers.evolutionary:EvolutionarySearcher",
    "tpe": "rlscope_jax.tune.searchers.tpe:TpeSearcher",
    "harl": "rlscope_jax.tune.searchers.harl:HarlSearcher",
}
"""Name -> module:class. Loaded when asked for, so that one's dependencies are not another's."""


class Searcher(Protocol):
    """An algorithm, asked and told. The same space, seed, calls and answers give the same proposals.

    It is made as `cls(space, seed, **options)`.
    """

    def propose(self, count: int) -> list[Candidate]:
        """Up to `count` valid candidates, none proposed before; fewer, or none, where the space ends."""

    def observe(self, candidates: Sequence[Candidate], seconds: Sequence[float]) -> None:
        """What they took; infinite for a failure. Also called, before the first proposal, with what is known
        from elsewhere.
        """


def make_searcher(name: str, space: Space, seed: int = 0, **options: Any) -> Searcher:
    """A searcher by its registered name.

    Raises:
        TuneError: there is none of that name; a package it needs is missing.
    """
    if name not in SEARCHERS:
        raise TuneError(f"no search algorithm {name!r}; there are {', '.join(SEARCHERS)}")
    module, _, attribute = SEARCHERS[name].partition(":")
    return getattr(import_module(module), attribute)(space, seed, **options)
