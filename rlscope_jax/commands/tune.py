"""`rlscope-jax tune`: find faster ways to compute the operations of a profile, and keep the winners."""

from __future__ import annotations

import argparse
from pathlib import Path

from rlscope_jax.commands.arguments import positive
from rlscope_jax.errors import RlscopeError

DEFAULT_ALGORITHM = "evolutionary"
"""What found better schedules on three tables of four; `harl` has yet to show that it learns enough."""


class TuneCommand:
    """Find faster ways to compute a task's function, and note the winners for `@tuned`.

    TASKS is FILE.py:NAME or module:NAME: one or several TuneTasks, or a function that makes them. Or it is
    the word `report`, which shows the searches of a record.
    """

    name = "tune"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the verb's options."""
        parser.add_argument("tasks", metavar="TASKS", help="FILE.py:NAME, module:NAME, or report")
        parser.add_argument(
            "--from",
            dest="logdir",
            metavar="LOGDIR",
            help="tune the tasks whose operation this profile saw, weighted by its seconds per step",
        )
        parser.add_argument(
            "--trials", type=positive, metavar="N", help="candidates to measure in all (default 128 a task)"
        )
        parser.add_argument(
            "--algorithm",
            default=DEFAULT_ALGORITHM,
            help=f"evolutionary, harl, random or tpe (default: {DEFAULT_ALGORITHM})",
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--record",
            type=Path,
            metavar="FILE",
            help="trials and winners (default: $RLSCOPE_JAX_TUNE or the cache)",
        )
        parser.add_argument(
            "--in-process", action="store_true", help="measure in this process: a crash ends it, a hang lasts"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Search and decide; Ctrl-C ends the search and keeps the best."""
        from rlscope_jax.tune.database import Database, default_path

        database = Database(options.record or default_path())
        if options.tasks == "report":
            from rlscope_jax.tune.show import show_record

            show_record(database)
            return 0
        try:
            from rlscope_jax.tune.load import load_tasks
            from rlscope_jax.tune.session import tune_tasks
            from rlscope_jax.tune.show import Live, show_results
        except ImportError as error:
            raise RlscopeError(f"tune needs pip install 'rlscope-jax[tune]': {error}") from error

        tasks = load_tasks(options.tasks)
        if options.logdir:
            from rlscope_jax.facade import load
            from rlscope_jax.tune.weights import tasks_from_report

            tasks = tasks_from_report(load(options.logdir), tasks)
        trials = options.trials or 128 * len(tasks)
        with Live(trials, seconds=bool(options.logdir)) as live:
            done = tune_tasks(
                tasks,
                database,
                trials,
                options.algorithm,
                options.seed,
                None if options.in_process else options.tasks,
                on_trials=live.heard,
            )
        show_results(done, seconds=bool(options.logdir))
        print(f"recorded in {database.path}; @tuned(task) uses the winners")
        return 0
