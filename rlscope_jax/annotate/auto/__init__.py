"""Annotate programs without touching their code: one module per library says what to name in it."""

from rlscope_jax.annotate.auto._annotate import auto_annotate as auto_annotate

__all__ = ["auto_annotate"]
