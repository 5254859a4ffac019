"""A candidate that raises, crashes, hangs or is wrong is a failed trial; the next one is measured as ever."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

import tune_tasks
from rlscope_jax.tune.bench import Bench, CandidateError
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.measure import LiveMeasurer
from rlscope_jax.tune.timing import Effort
from rlscope_jax.tune.worker import Worker

FAILURES = {
    "wrong": "differs from the reference in 75.0% of its elements, by up to 3",
    "nan": "NaNs or infinities",
    "shape": "float32(2,), the reference's float32(4,)",
    "fails": "RuntimeError: cannot run",
    "raises": "ValueError: no such schedule",
    "exits": "SystemExit: enough",
    "donates": "has been deleted",
    "reads": "EOFError",
    "crashes": "the process died (SIGSEGV)",
    "hangs": "not done after 10 s",
}
QUICK = Effort(6, 6)


def candidates(task):
    return {task.space.values(point)["how"]: point for point in task.space.every()}


def test_every_kind_of_failure_is_a_trial():
    points = candidates(tune_tasks.misbehaving())
    with Worker(tune_tasks.misbehaving, limit=10) as worker:
        measurer = LiveMeasurer(worker, effort=QUICK)
        trials = dict(zip(points, measurer.measure(list(points.values())), strict=True))
        again = measurer.measure([points["right"]])[0]
    for how, words in FAILURES.items():
        assert words in trials[how].error, how
    assert trials.keys() - FAILURES.keys() == set(tune_tasks.RIGHT)
    for trial in (*(trials[how] for how in tune_tasks.RIGHT), again):
        assert trial.error is None
        assert 0 < trial.seconds < 1
        assert trial.low <= trial.ratio <= trial.high


def test_without_a_process_the_same_answers():
    task = tune_tasks.misbehaving()
    bench, points = Bench(task), candidates(task)
    for how in ("wrong", "nan", "shape", "fails", "raises", "exits", "donates"):
        with pytest.raises(CandidateError) as caught:
            bench.measure(points[how], None, QUICK)
        assert FAILURES[how] in str(caught.value)
    found = bench.measure(points["right"], points["prints"], QUICK)
    assert found.rounds == 6
    assert bench.measure(None, None, QUICK).ratio > 0


def test_a_task_that_cannot_be_made_is_an_error_not_a_failed_candidate():
    with Worker(tune_tasks.broken) as worker, pytest.raises(TuneError, match="KeyError: 'no shapes today'"):
        worker.reference_seconds()


@pytest.mark.parametrize(
    ("how", "words"), [("fails", "raises RuntimeError: cannot run"), ("hangs", "not done")]
)
def test_a_reference_that_fails_is_an_error(how, words):
    load = partial(tune_tasks.hopeless, how)
    with Worker(load, limit=1) as worker, pytest.raises(TuneError, match=f"the reference .*{words}"):
        worker.reference_seconds()


def test_an_answer_that_nobody_waited_for_is_not_the_next_one(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    point = next(tune_tasks.misbehaving().space.every())
    with Worker(tune_tasks.misbehaving) as worker:
        assert worker.reference_seconds() > 0
        process = worker._process
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("rlscope_jax.tune.worker._receive", interrupt)
            worker.reference_seconds()
        assert process.poll() is not None
        assert worker.measure(point, None, QUICK).rounds == 6


def test_what_no_process_could_import_is_refused_at_once():
    with pytest.raises(TuneError, match="cannot be sent to a worker process"):
        Worker(lambda: None)


def test_the_process_ends_with_its_parent():
    code = (
        "import tune_tasks, time; from rlscope_jax.tune.worker import Worker;"
        "worker = Worker(tune_tasks.misbehaving); worker.reference_seconds();"
        "print(worker._process.pid, flush=True); time.sleep(60)"
    )
    path = os.pathsep.join(sys.path)
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    with parent:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    for _ in range(100):
        try:
            with open(f"/proc/{child}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail("the worker lives on")
