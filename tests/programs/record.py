"""Record small programs, one profile each: `python tests/programs/record.py LOGDIR [NAME ...]`.

Prints as JSON the finding that each must be told first, "" for a healthy one.
"""

import json
import sys
from pathlib import Path

import healthy
import jax
import troubled

ROOT = Path(sys.argv[1])
chosen = sys.argv[2:]
expected = {}
options = jax.profiler.ProfileOptions()  # as our own capture records
options.python_tracer_level = 0
for module in (healthy, troubled):
    for name, (program, code) in module.PROGRAMS.items():
        if chosen and name not in chosen:
            continue
        window = program()
        with jax.profiler.trace(str(ROOT / name), profiler_options=options):
            jax.block_until_ready(window())
            jax.effects_barrier()
        expected[name] = code
print(json.dumps(expected))
