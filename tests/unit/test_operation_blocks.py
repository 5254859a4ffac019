"""`with operation(...)`: the block that is left is the one that was entered, whoever runs in between."""

import asyncio
import copy
import pickle
import threading
from contextlib import ExitStack

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import _jax, operation

SHARED = operation("shared")


class Listener:
    """Stands for a profiler: notes each annotation's opening and closing, and by whom it was opened."""

    def __init__(self):
        self.events = []
        self.who = "nobody"
        self.on = True

    def annotation(self, text):
        return _Annotation(self, text)


class _Annotation:
    def __init__(self, listener, text):
        self.listener, self.text = listener, text

    def __enter__(self):
        self.owner = self.listener.who
        self.listener.events.append(("open", self.owner))
        return self

    def __exit__(self, *_):
        self.listener.events.append(("close", self.owner))


@pytest.fixture
def listener(monkeypatch):
    listener = Listener()
    monkeypatch.setattr(_jax, "is_recording", lambda: listener.on)
    monkeypatch.setattr(_jax, "TraceMe", listener.annotation)
    return listener


def test_interleaved_tasks_close_their_own(listener):
    async def task(name, entered, leave, left):
        listener.who = name
        with SHARED:
            entered.set()
            await leave.wait()
        listener.events.append(("left", name))
        left.set()

    async def main():
        a_entered, b_entered, a_left, b_left = (asyncio.Event() for _ in range(4))
        await asyncio.gather(task("a", a_entered, b_entered, a_left), task("b", b_entered, a_left, b_left))

    asyncio.run(main())
    assert listener.events == [
        ("open", "a"), ("open", "b"), ("close", "a"), ("left", "a"), ("close", "b"), ("left", "b"),
    ]  # fmt: skip


def test_interleaved_generators_close_their_own(listener):
    def body(name):
        listener.who = name
        with SHARED:
            yield
        listener.events.append(("left", name))

    a, b = body("a"), body("b")
    next(a), next(b)
    for generator in (a, b):
        assert next(generator, "end") == "end"
    assert listener.events == [
        ("open", "a"), ("open", "b"), ("close", "a"), ("left", "a"), ("close", "b"), ("left", "b"),
    ]  # fmt: skip


def test_a_generator_may_go_on_in_another_thread(listener):
    def body():
        with SHARED:
            yield

    generator = body()
    next(generator)
    thread = threading.Thread(target=next, args=(generator, "end"))
    thread.start()
    thread.join()
    assert [what for what, _ in listener.events] == ["open", "close"]
    assert not SHARED._open


def test_interleaved_exit_stacks_close_their_own(listener):
    def body(name):
        listener.who = name
        with ExitStack() as stack:
            stack.enter_context(SHARED)
            yield
        listener.events.append(("left", name))

    a, b = body("a"), body("b")
    next(a), next(b)
    for generator in (a, b):
        assert next(generator, "end") == "end"
    assert [who for what, who in listener.events if what == "close"] == ["a", "b"]


def test_another_function_may_leave_it(listener):
    def enter():
        listener.who = "setup"
        SHARED.__enter__()

    def leave():
        SHARED.__exit__(None, None, None)

    enter()
    leave()
    assert listener.events == [("open", "setup"), ("close", "setup")]
    assert not SHARED._open


def test_recording_that_begins_inside_a_block_misses_it_and_no_other(listener):
    listener.on = False
    with SHARED:
        listener.on, listener.who = True, "inner"
        with SHARED:
            pass
        assert listener.events == [("open", "inner"), ("close", "inner")]
    assert len(listener.events) == 2
    assert not SHARED._open


def test_recording_that_ends_inside_a_block_still_closes_it(listener):
    with SHARED:
        listener.on = False
    assert [what for what, _ in listener.events] == ["open", "close"]
    assert not SHARED._open


def test_each_thread_has_its_own_stack(listener):
    entered, leave = threading.Event(), threading.Event()
    closed_by = []

    def other():
        with SHARED:
            entered.set()
            leave.wait(10)
        closed_by.append("other")

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(10)
    with SHARED:
        pass
    assert len(SHARED._open) == 1  # the other thread's
    leave.set()
    thread.join()
    assert not SHARED._open


@pytest.mark.parametrize("transform", [jax.grad, jax.vmap], ids=["grad", "vmap"])
def test_a_transform_without_jit_is_seen_on_the_host(listener, transform):
    x = 1.0 if transform is jax.grad else jnp.ones(2)
    transform(operation("loss")(lambda x: x * x))(x)
    assert [what for what, _ in listener.events] == ["open", "close"]


def test_traced_code_leaves_nothing_on_the_host(listener):
    jax.jit(operation("loss")(lambda x: x * x)).lower(1.0)
    assert listener.events == []


def test_nobody_recording_makes_no_annotation(listener):
    listener.on = False
    operation("loss")(lambda: None)()
    assert listener.events == []


def test_a_generator_is_annotated_only_while_it_runs(listener):
    @operation("rollout")
    def rollout():
        listener.events.append("inside")
        yield 1
        listener.events.append("inside")

    for _ in rollout():
        listener.events.append("outside")
    assert [event if isinstance(event, str) else event[0] for event in listener.events] == [
        "open", "inside", "close", "outside", "open", "inside", "close",
    ]  # fmt: skip


@operation("double")
@jax.jit
def double(x):
    return x * 2


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_a_decorated_jit_of_a_module_is_copied_as_a_function_is(copied, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or _this_module())
    assert copied(double) is double


def _this_module():
    import types

    module = types.ModuleType(__name__)
    module.double = double
    return module


def test_the_object_survives_copy_and_pickle():
    for copied in (copy.copy(SHARED), copy.deepcopy(SHARED), pickle.loads(pickle.dumps(SHARED))):
        assert copied.name == "shared"
        with copied:
            pass
