"""FIND: what a person should do next, one rule a file, each with its evidence.

A rule is a module of the name of its code: its docstring tells its story (`rlscope-jax report --explain
CODE`), its `find` takes the `Facts` of one process and returns what it found. Adding a rule is adding the
module to `RULES`, and a page to docs/findings.
"""

from rlscope_jax.findings.finding import Finding
from rlscope_jax.findings.registry import CODES, explain, find_all

__all__ = ["CODES", "Finding", "explain", "find_all"]
