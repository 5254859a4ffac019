"""Find the fastest of many ways to compute the same: tasks, spaces, trustworthy measurement, searches.

Nothing here is imported by `rlscope_jax`; Halide, Optuna and optax are imported by the files that need them,
when they are used (extras `tune` and `halide`).
"""

from rlscope_jax.tune.space import Candidate as Candidate
from rlscope_jax.tune.space import Param as Param
from rlscope_jax.tune.space import Sketch as Sketch
from rlscope_jax.tune.space import Space as Space
from rlscope_jax.tune.task import TuneTask as TuneTask
