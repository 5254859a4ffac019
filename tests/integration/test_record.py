"""`rlscope-jax record`: the program's behaviour is unchanged, and the report or a clear notice comes."""

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest

from rlscope_jax import load, sessions
from rlscope_jax.breakdown.report import report_schema

ROOT = Path(__file__).resolve().parents[2]
WORK = """
    import sys, time, jax, jax.numpy as jnp

    def body(x, _):
        return jnp.sort(jnp.sin(x @ x)), None

    @jax.jit
    def train(x):
        return jax.lax.scan(body, x, None, length=2000)[0]

    def work(seconds):
        x, end = jnp.ones((8, 8)), time.monotonic() + seconds
        while time.monotonic() < end:
            x = train(x).block_until_ready()
"""


def program(folder, text, name="user.py"):
    path = folder / name
    path.write_text(textwrap.dedent(WORK) + textwrap.dedent(text))
    return path


def record(folder, *arguments, **more):
    command = [sys.executable, "-m", "rlscope_jax", "record", "--logdir", folder / "log", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False, **more
    )


EARLY = ("--skip", "0", "--window", "0.05", "--every", "0.1", "--windows", "30")


def test_arguments_output_and_exit_code_are_the_programs(tmp_path):
    path = program(tmp_path, "work(1.5); print(sys.argv, __name__, sys.path[0]); sys.exit(3)")
    done = record(tmp_path, *EARLY, path, "--json", "-x")
    assert done.returncode == 3
    assert done.stdout == f"['{path}', '--json', '-x'] __main__ {tmp_path}\n"
    assert "recorded" in done.stderr
    assert "train/body" in {row["path"] for row in load(tmp_path / "log").to_dict()["operations"]}


def test_names_of_libraries_are_given_before_the_program_begins(tmp_path):
    pytest.importorskip("optax")
    path = tmp_path / "user.py"
    path.write_text(
        "import sys; assert 'jax' not in sys.modules\nimport optax; print(hasattr(optax.adam, '__wrapped__'))"
    )
    done = record(tmp_path, "--auto", path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_a_window_opens_in_the_middle_of_one_long_call(tmp_path):
    text = "jax.lax.scan(body, jnp.ones((8, 8)), None, length=300_000)[0].block_until_ready()"
    path = program(tmp_path, text)
    done = record(tmp_path, *EARLY, path)
    assert done.returncode == 0, done.stderr
    data = load(tmp_path / "log").to_dict()
    assert data["counts"]["device_ops"] > 0


def test_a_module_runs_as_python_runs_it(tmp_path):
    package = tmp_path / "agent"
    package.mkdir()
    (package / "__init__.py").touch()
    program(package, "work(1); print(__name__, __package__)", "__main__.py")
    done = record(tmp_path, *EARLY, "-m", "agent")
    assert (done.returncode, done.stdout) == (0, "__main__ agent\n")


def test_an_exception_ends_the_program_as_ever(tmp_path):
    done = record(tmp_path, *EARLY, program(tmp_path, "work(1)\nraise ValueError('no such agent')"))
    assert done.returncode == 1
    assert "ValueError: no such agent" in done.stderr
    assert "rlscope_jax" not in done.stderr.split("Traceback")[1].split("ValueError")[0]
    assert "recorded" in done.stderr


def test_a_program_that_ends_at_once_is_told_of(tmp_path):
    done = record(tmp_path, program(tmp_path, "print('done')"))
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "before the first window" in done.stderr


def test_a_program_that_is_killed_leaves_its_windows(tmp_path):
    done = record(tmp_path, *EARLY, program(tmp_path, "import os; work(2); os.kill(os.getpid(), 9)"))
    assert done.returncode == -signal.SIGKILL
    for _ in range(200):  # the watchdog outlives the program
        if sessions(tmp_path / "log"):
            break
        time.sleep(0.1)
    assert "ended without returning" in done.stderr
    assert "train" in done.stderr


def test_a_killed_program_is_not_reported_where_no_report_is_wanted(tmp_path):
    done = record(tmp_path, *EARLY, "--no-report", program(tmp_path, "import os; work(2); os._exit(4)"))
    assert done.returncode == 4
    assert re.search(
        r"ended without returning \(killed, or os._exit\); [1-9]\d* windows are kept", done.stderr
    )
    assert "operation" not in done.stderr


def test_ctrl_c_reaches_the_program(tmp_path):
    text = "import os, signal; work(1); os.kill(os.getpid(), signal.SIGINT); work(1)"
    # A shell's background jobs ignore it, these tests among them, and so would a program that they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = record(tmp_path, *EARLY, program(tmp_path, text))
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == -signal.SIGINT  # as without us: shells and supervisors tell the two apart
    assert "KeyboardInterrupt" in done.stderr
    assert "recorded" in done.stderr


def test_a_profiler_of_the_programs_own_comes_first(tmp_path):
    text = """
        work(0.5)
        with jax.profiler.trace("own"):
            work(0.5)
        work(0.5)
        print("fine")
    """
    done = record(tmp_path, *EARLY, "--every", "0.01", "--windows", "100", program(tmp_path, text))
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
    assert sessions(tmp_path / "own")


@pytest.mark.parametrize(
    "text",
    [
        "from jax.profiler import start_trace as go, stop_trace as end\n"
        "work(0.3); go('own'); work(0.3); end()",
        "import rlscope_jax\nwork(0.3)\n"
        "with rlscope_jax.profile('own') as p: p.step(train(jnp.ones((8, 8))))",
    ],
    ids=["names imported before", "rlscope_jax.profile"],
)
def test_windows_give_way_to_any_profiler_of_the_program(tmp_path, text):
    long = ("--skip", "0", "--window", "2", "--every", "0.01", "--windows", "100")
    done = record(tmp_path, *long, program(tmp_path, f"{text}\nprint('fine')"))
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
    assert "Warning" not in done.stderr
    assert sessions(tmp_path / "own")


def test_main_is_what_python_makes_it(tmp_path):
    text = """
        import inspect, os, pickle
        class Agent: pass
        os.chdir("/")
        print(os.path.isabs(__file__), open(__file__).read() == inspect.getsource(sys.modules["__main__"]))
        pickle.dumps(Agent())
    """
    path = program(tmp_path, text)
    done = record(tmp_path, *EARLY, path.name)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr
    done = record(tmp_path, *EARLY, "-m", "user")
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


def test_threads_and_processes_of_the_program_live_on(tmp_path):
    text = """
        import multiprocessing, threading

        def child(queue):
            queue.put("child")

        if __name__ == "__main__":
            thread = threading.Thread(target=lambda: (work(1.5), print("thread")))
            thread.start()
            context = multiprocessing.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=child, args=(queue,))
            process.start()
            print(queue.get())
            process.join()
    """
    done = record(tmp_path, *EARLY, program(tmp_path, text))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["child", "thread"]


def test_pools_and_exit_handlers_end_as_python_ends_them(tmp_path):
    """A pool left open, and a thread that waits for the main one: both end only once Python shuts down."""
    path = tmp_path / "user.py"
    path.write_text(
        "import atexit, threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(1)\n"
        "print(pool.submit(int).result())\n"
        "atexit.register(print, 'exit')\n"
        "threading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start()\n"
        "print('end')"
    )
    done = record(tmp_path, path)
    assert (done.returncode, done.stdout) == (0, "0\nend\nthread\nexit\n"), done.stderr
    assert "did not load jax" in done.stderr


def test_a_window_is_kept_though_the_program_ends_in_an_exit_handler(tmp_path):
    text = "import atexit; atexit.register(lambda: (work(1.5), print('trained')))"
    done = record(tmp_path, *EARLY, program(tmp_path, text))
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    assert load(tmp_path / "log").to_dict()["counts"]["device_ops"] > 0


def test_a_child_that_outlives_the_program_does_not_hold_it(tmp_path):
    path = tmp_path / "user.py"
    path.write_text(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.close(1), os.close(2)\n"
        "    for _ in range(600):\n"
        "        time.sleep(0 if os.path.exists('told') else 0.1)\n"
        "    open('ended', 'w'), os._exit(0)\n"
        "print('parent')"
    )
    done = record(tmp_path, path)
    assert not (tmp_path / "ended").exists()
    (tmp_path / "told").touch()
    assert (done.returncode, done.stdout) == (0, "parent\n"), done.stderr


def test_a_fork_is_not_recorded(tmp_path):
    text = "import os; work(1)\nif os.fork() == 0: sys.exit(0)\nos.wait(); work(0.5); print('parent')"
    done = record(tmp_path, *EARLY, program(tmp_path, text))
    assert (done.returncode, done.stdout) == (0, "parent\n")
    assert done.stderr.count("rlscope-jax: recorded") == 1


def test_a_script_that_is_not_there_is_said_in_one_line(tmp_path):
    done = record(tmp_path, tmp_path / "user.py")
    assert done.returncode == 2
    assert done.stderr.startswith("rlscope-jax: cannot run")
    assert len(done.stderr.splitlines()) == 1


def test_a_directory_without_a_program_is_said_in_one_line(tmp_path):
    done = record(tmp_path, tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        f"rlscope-jax: cannot run {tmp_path}: a directory without __main__.py\n",
    )
    assert not (tmp_path / "log").exists()


def test_a_window_must_have_a_length(tmp_path):
    done = record(tmp_path, "--window", "0", "user.py")
    assert done.returncode == 2
    assert "a window of no length holds nothing" in done.stderr


def test_a_syntax_error_is_told_as_python_tells_it(tmp_path):
    path = tmp_path / "user.py"
    path.write_text("x = 1\ndef (\n")
    alone = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    done = record(tmp_path, path)
    assert done.returncode == alone.returncode == 1
    assert done.stderr.startswith(alone.stderr)
    assert not (tmp_path / "log").exists()


def test_a_program_on_standard_input(tmp_path):
    done = record(
        tmp_path, "-", "-x", input="import sys; print(__name__, sys.argv, repr(sys.path[0]))\n1 / 0\n"
    )
    assert (done.returncode, done.stdout) == (1, "__main__ ['-', '-x'] ''\n")
    assert 'File "<stdin>", line 2' in done.stderr


def test_where_the_directory_cannot_be_written_another_is_named(tmp_path):
    path = program(tmp_path, "work(1.5); print('done')")
    (tmp_path / "log").write_text("a file in the way")
    done = record(tmp_path, *EARLY, path)
    assert (done.returncode, done.stdout) == (0, "done\n")
    told = re.search(r"log cannot be written \(.*\): windows go to (\S+)", done.stderr)
    assert len(sessions(told[1])) > 0
    assert "  body" in done.stderr  # the report
    shutil.rmtree(told[1])


def test_windows_by_runs(tmp_path):
    """Three runs each, of one program; a window may cut a run at either end."""
    runs = ("--skip", "4runs", "--window", "3runs", "--every", "5runs", "--windows", "3")
    done = record(tmp_path, *runs, program(tmp_path, "work(3)"))
    assert done.returncode == 0, done.stderr
    report = load(tmp_path / "log")
    assert len(report.windows) == 3
    for window in report.windows[1:]:  # the first is cut short: how many events there are is not known yet
        [train] = [one for one in window.to_dict()["programs"] if one["function"] == "train"]
        assert 3 <= train["runs"] <= 5


@pytest.mark.parametrize("length", ["three runs", "-1", "0runs", "nan", "1e99"])
def test_a_length_is_seconds_or_runs(tmp_path, length):
    done = record(tmp_path, "--window", length, "user.py")
    assert done.returncode == 2
    assert "is neither seconds (2.5) nor runs (3runs)" in done.stderr


def test_what_was_compiled_before_the_windows_is_told(tmp_path):
    text = """
        @jax.jit
        def again(x):
            return x * 2

        again(jnp.ones(3)), again(jnp.ones(4))
        work(2)
    """
    done = record(tmp_path, program(tmp_path, text))  # windows begin a second after that
    assert done.returncode == 0, done.stderr
    compiles = load(tmp_path / "log").to_dict()["compiles"]
    assert compiles["covers"] == "run"
    [one] = [one for one in compiles["functions"] if one["function"] == "again"]
    assert (one["count"], one["where"].rpartition("/")[2]) == (2, "user.py:16")
    assert [each["reason"] for each in one["compiled"]] == [None, "x: f32[4], before f32[3]"]
    assert "again: x: f32[4], before f32[3]" in done.stderr


def test_the_windows_of_a_run_make_one_report(tmp_path):
    done = record(tmp_path, *EARLY, program(tmp_path, "work(2)"))
    assert done.returncode == 0, done.stderr
    report = load(tmp_path / "log")
    data, alone = report.to_dict(), [window.to_dict() for window in report.windows]
    assert data["window"]["windows"] == len(alone) == len(sessions(tmp_path / "log")) > 1
    for total in ("wall", "device_only", "overlap", "host_only", "idle", "device_self"):
        assert data["totals"][total]["raw"] == sum(one["totals"][total]["raw"] or 0 for one in alone)
    assert data["counts"]["device_ops"] == sum(row["device"]["ops"] for row in data["operations"])
    shares = [sum(row["evidence"].values()) for row in data["operations"] if row["device"]["self"]["raw"]]
    assert all(share == pytest.approx(1, abs=1e-4) for share in shares)
    jsonschema.validate(data, report_schema())
    newest = sessions(tmp_path / "log")[-1].name
    assert load(tmp_path / "log", session=newest).to_dict()["window"]["windows"] == 1


@pytest.mark.slow
def test_brax_compiles_its_epoch_twice_and_the_report_says_so(tmp_path):
    """A stock script; the names are the functions' own, where jax knows them as pmap's `_fun`."""
    pytest.importorskip("brax")
    path = tmp_path / "user.py"
    path.write_text(
        "from brax import envs\n"
        "from brax.training.agents.ppo.train import train\n"
        "train(environment=envs.get_environment('fast'), num_timesteps=64, episode_length=4, num_envs=4,\n"
        "      num_eval_envs=4, unroll_length=2, batch_size=4, num_minibatches=2, num_evals=3)"
    )
    done = record(tmp_path, "--auto", "--skip", "0", "--windows", "1", path)
    assert done.returncode == 0, done.stderr
    compiles = {one["function"]: one for one in load(tmp_path / "log").to_dict()["compiles"]["functions"]}
    assert compiles["training_epoch"]["count"] == 2
    assert "ppo/train.py" in compiles["training_epoch"]["where"]
    assert "from mesh" in compiles["training_epoch"]["compiled"][1]["reason"]
    assert not {"_fun", "jit__fun"} & compiles.keys()
    assert "  training_epoch: 2 times" in done.stderr


def test_windows_wait_for_the_first_function_to_be_compiled(tmp_path):
    """Imports may use jax too, as those of environments do, and then take their time."""
    done = record(
        tmp_path, program(tmp_path, "jnp.ones(3) + 1; time.sleep(2.5); print('imported'); work(2.5)")
    )
    assert (done.returncode, done.stdout) == (0, "imported\n")
    opened = [session.sidecar["window"]["start_unix_ns"] for session in sessions(tmp_path / "log")]
    compiles = sessions(tmp_path / "log")[-1].sidecar["compiles"]
    [train] = [entry for entry in compiles if entry["function"] == "train"]
    assert min(opened, default=0) > train["compiled"][0]["unix_ns"]


def test_a_long_call_that_ended_is_told_beside_its_windows(tmp_path):
    text = """
        @jax.jit
        def whole(x):
            return jax.lax.scan(body, x, None, length=1_000_000)[0]

        def main():
            x = jnp.ones((8, 8))
            whole(x).block_until_ready()  # the result is dropped at once

        main()
    """
    done = record(tmp_path, *EARLY, "--window", "0.01", program(tmp_path, text))
    assert done.returncode == 0, done.stderr
    calls = sessions(tmp_path / "log")[-1].sidecar["calls"]
    assert len(calls) == 1, calls
    data = load(tmp_path / "log").to_dict()
    # Whether the windows were slower at all is the machine's to say: how many iterations they missed is not.
    anchors = data["overhead"]["anchors"]
    assert anchors is None or 0 < anchors["iterations"] < 1_000_000


def test_a_call_that_failed_is_no_measure(tmp_path):
    text = """
        def stop(step):
            raise ValueError("no such state")

        @jax.jit
        def whole(x):
            def one(x, step):
                jax.lax.cond(step == 250_000, lambda: jax.debug.callback(stop, step), lambda: None)
                return body(x, None)

            return jax.lax.scan(one, x, jnp.arange(1_000_000))[0]

        whole(jnp.ones((8, 8))).block_until_ready()
        jax.effects_barrier()
    """
    done = record(tmp_path, *EARLY, "--window", "0.01", program(tmp_path, text))
    assert done.returncode == 1
    assert "no such state" in done.stderr
    assert sessions(tmp_path / "log")[-1].sidecar["calls"] == []


def test_two_calls_that_wait_for_each_other_are_two(tmp_path):
    text = """
        from functools import partial

        @partial(jax.jit, donate_argnums=0)
        def whole(x):
            return jax.lax.scan(body, x, None, length=700_000)[0]

        first = whole(jnp.ones((8, 8)))
        kept = first + 1
        second = whole(first)
        second.block_until_ready()
    """
    done = record(tmp_path, *EARLY, "--window", "0.01", program(tmp_path, text))
    assert done.returncode == 0, done.stderr
    calls = sessions(tmp_path / "log")[-1].sidecar["calls"]
    assert len(calls) <= 2
    for earlier, later in pairwise(calls):
        assert earlier["end_unix_ns"] <= later["begin_unix_ns"]
