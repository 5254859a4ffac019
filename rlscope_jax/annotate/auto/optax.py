"""optax: the update of every optimizer that its constructors make."""

from __future__ import annotations

import functools
from typing import Any

from rlscope_jax.annotate.auto._library import Library, Patch

_CONSTRUCTORS = (
    "adam", "adamw", "sgd", "rmsprop", "adagrad", "adamax", "lamb", "lion", "nadam", "radam",
    "chain", "noisy_sgd",
)  # fmt: skip


def _constructor(original: Any, name: str) -> Any:
    from rlscope_jax.annotate._optimizer import wrap_optimizer

    @functools.wraps(original)
    def make(*arguments: Any, **more: Any) -> Any:
        return wrap_optimizer(original(*arguments, **more), name)

    return make


LIBRARY = Library(
    "optax",
    "0.1.5",
    "0.3",
    tuple(Patch("optax", constructor, "optimizer", _constructor) for constructor in _CONSTRUCTORS),
)
