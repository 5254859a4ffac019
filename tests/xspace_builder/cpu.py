"""Profiles of XLA:CPU, as jax 0.10 records them.

There is no device plane: ops are events of `/host:CPU`, on a worker's line or, for small programs, on the
dispatching thread's own. Each op encloses an `end: <op>` event, tied to it by a flow id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from xspace_builder.hlo import HloModuleBuilder
from xspace_builder.lines import Event, LineBuilder
from xspace_builder.ops import NS, US, Op, PlacedOp, place
from xspace_builder.recording import Recording, Session
from xspace_builder.values import Ref, StatKey, Value

_THUNK, _EXECUTOR, _LISTENER = Ref("thunk.cc"), Ref("thunk_executor.cc"), Ref("threadpool_listener.cc")
_THREADPOOL_FLOW = 15
_OPS_BEGIN = 10 * US  # after the dispatch began, when its ops run inline
_DISPATCH_CLOSES = 6 * US  # from the end of inline ops to the end of the dispatch
_WORKER_WAKES = 2 * US  # from the start of a worker's region to its first op


@dataclass(frozen=True)
class Run:
    """One execution of a program, with everything that is true of it."""

    module: HloModuleBuilder
    run_id: int
    dispatch: Event
    """The outer of the two `PjitFunction` events."""
    ops: list[PlacedOp]

    @property
    def start(self) -> int:
        """When the first op began."""
        return min(placed.start for placed in self.ops)

    @property
    def end(self) -> int:
        """When the last op ended."""
        return max(placed.end for placed in self.ops)


class CpuTrace(Recording):
    """A profile of XLA:CPU being composed."""

    run_ids = True
    """False leaves out the run and the device of an op, as jax before 0.8 did."""

    def __init__(self, session: Session = Session()) -> None:  # noqa: B008 (immutable)
        super().__init__(session)
        self._threadpool_flows = count(1)
        self._op_flows: dict[int, count[int]] = {}
        self._run_numbers = count(142_210_005)

    def worker(self, pool: str = "XLAPjRtCpuClient") -> LineBuilder:
        """Add a thread of one of XLA's pools (`XLAPjRtCpuClient`, `XLAEigen`)."""
        id = 973_277_815_374_749_532 + len(self.host.lines)
        return self.thread(f"tf_{pool}/{id}", id=id)

    def run(
        self,
        module: HloModuleBuilder,
        ops: Sequence[Op],
        at: int,
        *,
        worker: LineBuilder | None = None,
        thread: LineBuilder | None = None,
        dispatch: int = 50 * US,
        starts: int | None = None,
        run_id: int | None = None,
        device: int = 0,
    ) -> Run:
        """Dispatch a program at time `at` and run its ops.

        Without a `worker` they run inline, inside the dispatch on its `thread` (the Python thread unless
        said otherwise), which then lasts as long as they need. With one, the dispatch lasts `dispatch` and
        the worker takes the ops up at `starts`, by default as soon as they are handed over.
        """
        self.add_program(module)
        thread = thread or self.python
        if run_id is None:
            run_id = next(self._run_numbers)
        if worker is None:
            begin = at + _OPS_BEGIN
            placed = list(place(ops, begin))
            dispatch = _end(placed, begin) + _DISPATCH_CLOSES - at
        else:
            handed_over = at + _OPS_BEGIN
            begin = (handed_over if starts is None else starts) + _WORKER_WAKES
            placed = list(place(ops, begin))
            self._hand_over(thread, handed_over, worker, begin - _WORKER_WAKES, _end(placed, begin) + US)
        outer = _dispatch_events(thread, module.name.removeprefix("jit_"), at, at + dispatch)
        self._add_ops(module, placed, worker or thread, run_id, device)
        return Run(module, run_id, outer, placed)

    def also(self, run: Run, ops: Sequence[Op], at: int, thread: LineBuilder, device: int = 0) -> None:
        """Let ops of a run execute on another thread too, say bodies of its `while` on an Eigen thread."""
        placed = list(place(ops, at))
        self._add_ops(run.module, placed, thread, run.run_id, device)
        run.ops.extend(placed)

    def _hand_over(
        self, thread: LineBuilder, handed_over: int, worker: LineBuilder, start: int, stop: int
    ) -> None:
        flow = next(self._threadpool_flows)
        record = {"_pt": _THREADPOOL_FLOW, "_p": flow, "_src": _LISTENER}
        region = {"_ct": _THREADPOOL_FLOW, "_c": flow, "_src": _LISTENER}
        thread.event("ThreadpoolListener::Record", handed_over, 0, record)
        worker.event("ThreadpoolListener::StartRegion", start, 0, region)
        worker.event("ThreadpoolListener::StopRegion", stop, 0, {"_src": _LISTENER})

    def _add_ops(
        self, module: HloModuleBuilder, placed: list[PlacedOp], line: LineBuilder, run_id: int, device: int
    ) -> None:
        flows = self._op_flows.setdefault(id(line), count(len(self._op_flows) + 1 << 32))
        run: list[tuple[StatKey, Value]] = [("run_id", run_id), ("device_ordinal", device)]
        for each in placed:
            name, flow = each.op.name, next(flows)
            stats: list[tuple[StatKey, Value]] = [
                ("hlo_op", Ref(name)),
                ("hlo_module", Ref(module.name)),
                ("program_id", module.program_id),
                *(run if self.run_ids else []),
                ("_src", _THUNK),
                ("_pt", 0),
                ("_p", flow),
                ("_src", _EXECUTOR),
            ]
            line.event(name, each.start, each.op.duration, stats)
            if each.op.tail:
                begin, closing = each.end - each.op.tail, each.op.tail // 2
                line.event(f"end: {name}", begin, closing, {"_ct": 0, "_c": flow, "_src": _EXECUTOR})
        if placed and self.run_ids:
            line.event("ThunkExecutor::Execute (wait for completion)", _end(placed, 0), 100 * NS, run)


def _end(placed: list[PlacedOp], empty: int) -> int:
    return max((each.end for each in placed), default=empty)


def _dispatch_events(thread: LineBuilder, function: str, start: int, end: int) -> Event:
    """What one call of a jitted function leaves on its thread: two nested `PjitFunction`s, and the rest."""
    outer = thread.event(f"PjitFunction({function})", start, end - start)
    inner_events = [
        (f"PjitFunction({function})", start + 500 * NS, end - 200 * NS),
        ("PythonRefManager::CollectGarbage", start + 1_000 * NS, start + 1_500 * NS),
        ("ParseArguments", start + 2_000 * NS, start + 3_000 * NS),
        ("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice", start + 5_000 * NS, end - 1_000 * NS),
        ("CommonPjRtLoadedExecutable::ExecutePrepare", start + 5_500 * NS, start + 9_000 * NS),
        ("Handle inputs", start + 6_000 * NS, start + 6_800 * NS),
        ("AllocateOutputBuffersWithInputReuse", start + 7_000 * NS, start + 8_500 * NS),
        ("Handle input event recording", end - 4_000 * NS, end - 3_700 * NS),
        ("CommonPjRtClient::CreateOutputs", end - 3_500 * NS, end - 2_500 * NS),
    ]
    for name, begin, stop in inner_events:
        thread.event(name, begin, stop - begin)
    return outer
