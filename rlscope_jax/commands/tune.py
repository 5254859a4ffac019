"""`rlscope-jax tune`: find faster ways to compute the operations of a profile, and keep the winners."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlscope_jax.commands.arguments import positive, seed
from rlscope_jax.commands.output import write_file
from rlscope_jax.errors import RlscopeError

if TYPE_CHECKING:
    from rlscope_jax.tune.beside import BesideProfile
    from rlscope_jax.tune.task import TuneTask

DEFAULT_ALGORITHM = "evolutionary"
"""It starts at once; `harl` compiles first, for schedules that are 1 % better after 128 trials."""


class TuneCommand:
    """Find faster ways to compute a task's function, and note the winners for `@tuned`.

    TASKS is FILE.py:NAME or module:NAME: one or several TuneTasks, or a function that makes them. Or it is
    the word `report`, which shows the searches of a record (--record, or the one beside the profile --from).
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
        parser.add_argument(
            "--seed", type=seed, default=0, metavar="N", help="begins another search (default 0)"
        )
        parser.add_argument(
            "--record",
            type=Path,
            metavar="FILE",
            help="trials and winners (default: $RLSCOPE_JAX_TUNE or the cache)",
        )
        parser.add_argument(
            "--in-process", action="store_true", help="measure in this process: a crash ends it, a hang lasts"
        )
        parser.add_argument(
            "--html", type=Path, metavar="FILE", help="report: write the searches as one HTML file"
        )
        parser.add_argument(
            "--json", type=Path, metavar="FILE", help="report: write the searches as JSON to a file"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Search and decide; Ctrl-C ends the search and keeps the best."""
        if options.tasks == "report":
            return _report(options)
        if options.html or options.json:
            raise RlscopeError("--html and --json go with: rlscope-jax tune report")
        try:
            from rlscope_jax.tune.database import Database, default_path
            from rlscope_jax.tune.load import load_tasks
            from rlscope_jax.tune.session import tune_tasks
            from rlscope_jax.tune.show import Live, show_results
        except ImportError as error:
            raise RlscopeError(f"tune needs pip install 'rlscope-jax[tune]': {error}") from error

        tasks = load_tasks(options.tasks)
        database, profile, per = Database(options.record or default_path()), None, None
        if options.logdir:
            tasks, profile, per = _weighted(tasks, options.logdir, database.path)
        trials = options.trials or 128 * len(tasks)
        if not options.in_process:  # where candidates are compiled each time
            _keep_compiled()
        try:
            with Live(trials, per) as live:
                done = tune_tasks(
                    tasks,
                    profile or database,
                    trials,
                    options.algorithm,
                    options.seed,
                    None if options.in_process else options.tasks,
                    on_trials=live.heard,
                    on_decide=live.deciding,
                )
        except KeyboardInterrupt:
            print(
                f"ended before the best were compared; the trials are in {database.path}: "
                "the same command resumes from there",
                file=sys.stderr,
            )
            raise
        show_results(done, per)
        print(f"recorded in {database.path}; @tuned(task) uses the winners")
        if profile is not None and profile.beside is not None:
            print(f"and in {profile.beside}: the TensorBoard tab shows it, view Tuning")
        return 0


def _keep_compiled() -> None:
    """Let jax keep on disk what the searches compile (`harl`: 20 s), unless the user has it kept elsewhere.

    In this process only: the one that measures compiles candidates anew.
    """
    import jax
    from jax.experimental.compilation_cache.compilation_cache import reset_cache
    from platformdirs import user_cache_path

    config: Any = jax.config
    if config.jax_compilation_cache_dir is None:
        config.update("jax_compilation_cache_dir", str(user_cache_path("rlscope-jax") / "compiled"))
        config.update("jax_persistent_cache_min_compile_time_secs", 1.0)
        reset_cache()  # what the tasks compiled when they were loaded settled that there is none


def _weighted(tasks: list[TuneTask], logdir: str, record: Path) -> tuple[list[TuneTask], BesideProfile, str]:
    """The tasks that a profile saw, with its seconds per step or window (which of them is the last of what is
    returned), and a database that tells its tab.
    """
    from rlscope_jax.facade import load
    from rlscope_jax.tune.beside import BesideProfile
    from rlscope_jax.tune.database import key_of
    from rlscope_jax.tune.weights import tasks_from_report

    report = load(logdir).to_dict()
    tasks = tasks_from_report(report, tasks)
    database = BesideProfile(record, report["session"]["logdir"], [key_of(task) for task in tasks])
    per = "step" if report["window"]["steps"] else "window"
    for task in tasks:
        database.add_weight(key_of(task), task.weight, per)
    return tasks, database, per


def _beside(logdir: str) -> Path:
    """Where `tune --from` left its searches: in the directory, or in that of its newest profile."""
    from rlscope_jax.errors import NoProfileError
    from rlscope_jax.tune.searches import RECORD_NAME
    from rlscope_jax.xla_events.sessions import find_session

    record = Path(logdir) / RECORD_NAME
    if not record.exists():
        with suppress(NoProfileError):
            record = find_session(logdir).logdir / RECORD_NAME
    return record


def _report(options: argparse.Namespace) -> int:
    """Show what a record holds, or write it to files."""
    from rlscope_jax.reporters.searches import render, to_page
    from rlscope_jax.tune.database import Database, default_path
    from rlscope_jax.tune.searches import tuning_of

    record = options.record or (_beside(options.logdir) if options.logdir else default_path())
    tuning = tuning_of(Database(record).rows())
    if not tuning["tasks"]:
        raise RlscopeError(f"{record} holds no trials; rlscope-jax tune FILE.py:TASKS makes some")
    if options.json:
        write_file("--json", options.json, json.dumps(tuning, indent=1, allow_nan=False) + "\n")
    if options.html:
        write_file("--html", options.html, to_page(tuning, str(record)))
    if not (options.json or options.html):
        render(tuning)
    return 0
