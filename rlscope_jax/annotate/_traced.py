"""Which operations were traced into which programs, and which programs came from the compilation cache.

The persistent cache ignores names: a program compiled before it was decorated comes back without them.
What is noted here goes into the session's sidecar, so that the report can tell (health code `stale_names`).
"""

from __future__ import annotations

import threading

import jax

from rlscope_jax import _jax

_MOST_NAMES = 1000  # a function; a program that makes names up is not worth a leak

names: dict[str, set[str]] = {}
"""Function -> marks of the operations traced into its program."""
from_cache: set[str] = set()
"""Functions whose program was last taken from a cache that ignores names."""
compiles = 0
"""Programs compiled, or taken from the cache, since this module was loaded."""

_this_thread = threading.local()


def note(function: str, text: str) -> None:
    """Remember that the operation marked `text` was traced into the program of `function`."""
    known = names.setdefault(function, set())
    if len(known) < _MOST_NAMES:
        known.add(text)


def snapshot() -> list[tuple[str, set[str]]]:
    """The names so far, though other threads may be tracing."""
    return [(function, texts.copy()) for function, texts in names.copy().items()]


def _event(event: str, **_: object) -> None:
    if event == "/jax/compilation_cache/cache_hits":
        _this_thread.hit = not _jax.cache_keeps_names()


def _duration(event: str, duration_secs: float, **details: str | int) -> None:
    if event == "/jax/core/compile/backend_compile_duration":  # ends after the cache was asked
        global compiles
        compiles += 1
        name = str(details.get("fun_name", ""))
        function = name.removeprefix("jit_").removeprefix("jit(").removesuffix(")")
        (from_cache.add if getattr(_this_thread, "hit", False) else from_cache.discard)(function)
        _this_thread.hit = False


jax.monitoring.register_event_listener(_event)
jax.monitoring.register_event_duration_secs_listener(_duration)
