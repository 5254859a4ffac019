"""What every dialect makes of an XSpace: device lines, host threads, and the table of executed ops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rlscope_jax.xla_events.hlo import Programs


@dataclass
class Device:
    """One device of one process."""

    id: str  # "vm/cpu:0"
    kind: str  # cpu | gpu | tpu
    name: str | None = None
    has_data: bool = True
    """Whether anything was recorded of it; a device without data is not an idle one."""


@dataclass
class Ops:
    """The distinct executed ops: one row per (program, HLO op, kernel)."""

    program: np.ndarray
    """int64[ops]: program id, -1 for work that no program claims."""
    name: list[str]
    """The HLO instruction's name; "" where the event does not say."""
    kernel: list[str]
    """The kernel's own name, where the device tells (GPU)."""
    op_path: list[str]
    """The op_name the event itself carries, where it does (GPU, TPU): for programs without HLO."""

    @staticmethod
    def none() -> Ops:
        """No ops."""
        return Ops(np.zeros(0, np.int64), [], [], [])


@dataclass
class Runs:
    """The distinct executions: one row per (program, run id)."""

    program: np.ndarray
    """int64[runs]."""
    run_id: np.ndarray
    """int64[runs]."""
    module: list[str]
    """Module name, e.g. `jit_train_step`."""
    start: np.ndarray
    """int64[runs]: when the first op began, ps."""
    end: np.ndarray
    """int64[runs]: when the last op ended, ps."""

    def __len__(self) -> int:
        return len(self.program)

    @staticmethod
    def none() -> Runs:
        """No runs."""
        return Runs.untimed(np.zeros(0, np.int64), np.zeros(0, np.int64), [])

    @staticmethod
    def untimed(program: np.ndarray, run_id: np.ndarray, module: list[str]) -> Runs:
        """Runs whose times `Trace.set_run_times` will set."""
        most = np.iinfo(np.int64).max
        return Runs(program, run_id, module, np.full(len(program), most), np.full(len(program), -most))


@dataclass
class Launches:
    """The host calls that launched device work, sorted by correlation id."""

    correlation: np.ndarray
    """int64[launches]."""
    start: np.ndarray
    """int64[launches], ps."""
    end: np.ndarray
    """int64[launches], ps."""

    @staticmethod
    def none() -> Launches:
        """No launches: a device that is driven otherwise."""
        return Launches(*(np.zeros(0, np.int64) for _ in range(3)))

    def of(self, correlation: np.ndarray) -> np.ndarray:
        """int32: the launch with each correlation id, -1 where there is none."""
        if len(self.correlation) == 0:
            return np.full(len(correlation), -1, np.int32)
        place = np.minimum(np.searchsorted(self.correlation, correlation), len(self.correlation) - 1)
        return np.where(self.correlation[place] == correlation, place, -1).astype(np.int32)


@dataclass
class OpLine:
    """The op events of one line of one device, sorted by start (longest first)."""

    name: str
    device: int
    start: np.ndarray
    """int64[events], ps since the session's start."""
    end: np.ndarray
    """int64[events], ps."""
    kind: np.ndarray
    """int32[events]: which of the line's kinds of event this is; what is known of a kind stands once."""
    kind_op: np.ndarray
    """int32[kinds]: row of `Ops`."""
    kind_run: np.ndarray
    """int32[kinds]: row of `Runs`."""
    tail: np.ndarray | None = None
    """int64[events]: from the start of the op's own `end:` event to its end, ps; -1 without one.

    It holds only profiling overhead (see docs on correction) and is never counted as work of its own.
    None where the device leaves no such events.
    """
    thread: int = -1
    """Index of the host thread these ops ran on inline, -1 for a worker."""
    launch: np.ndarray | None = None
    """int32[events]: row of `Launches` that each op was launched by, -1 without; None where none exist."""

    @property
    def op(self) -> np.ndarray:
        """int32[events]: row of `Ops`."""
        return self.kind_op[self.kind]

    @property
    def run(self) -> np.ndarray:
        """int32[events]: row of `Runs`."""
        return self.kind_run[self.kind]


@dataclass
class Flows:
    """Tasks handed from one thread to another, as one of the two recorded it."""

    at: np.ndarray
    """int64[flows], ps."""
    id: np.ndarray
    """int64[flows]: the same number on both sides."""


class Step(NamedTuple):
    """One training step as an annotation bounds it, ps; number -1 where it says none."""

    number: int
    start: int
    end: int
    name: str


@dataclass
class HostThread:
    """The events of one host thread, sorted by start (longest first), `end:` marks left out."""

    name: str
    event_names: list[str]
    event: np.ndarray
    """int32[events]: index into `event_names`, -1 for an event without a name."""
    start: np.ndarray
    """int64[events], ps."""
    end: np.ndarray
    """int64[events], ps."""
    op: np.ndarray
    """int32[events]: row of `Ops` for an op that ran here inline, else -1."""
    run: np.ndarray
    """int32[events]: row of `Runs` likewise."""
    kind: np.ndarray
    """int32[events]: the kind of op (as in `OpLine`) of an op that ran here inline, else -1."""
    driver: np.ndarray
    """bool[events]: a call of the device's driver, such as a launch."""
    steps: list[Step]
    """Step annotations, in order; they bound time and contain nothing, so they are no events here."""
    handed: Flows
    """Tasks this thread handed to a pool."""
    python_calls: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """int64[calls], ps: when calls began that jax's Python tracer recorded; they are no events here."""


@dataclass
class Worker:
    """One thread of XLA's pools."""

    name: str
    begun: Flows
    """Tasks it took over."""
    executes: bool
    """Whether it executed programs."""
    cut: bool
    """Whether the window closed while it worked on a task."""
    handed: Flows = field(default_factory=lambda: Flows(np.zeros(0, np.int64), np.zeros(0, np.int64)))
    """Tasks it handed to others of its pool."""


@dataclass
class Trace:
    """One host's profile, device kinds made alike."""

    host: str
    programs: Programs
    ops: Ops = field(default_factory=Ops.none)
    runs: Runs = field(default_factory=Runs.none)
    launches: Launches = field(default_factory=Launches.none)
    devices: list[Device] = field(default_factory=list)
    op_lines: list[OpLine] = field(default_factory=list)
    host_threads: list[HostThread] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    window: tuple[int, int] = (0, 0)
    """First and last instant recorded, ps since the session's start."""
    start_unix_ns: int | None = None
    environment: dict[str, str | None] = field(default_factory=dict)
    python_tracer: bool = False
    ran_without_ops: bool = False
    """Whether workers executed programs and left no op events (jax 0.6 on CPU)."""
    warnings: list[str] = field(default_factory=list)
    """What the profiler itself complained of."""
    events: int = 0

    def set_run_times(self) -> None:
        """Let every run extend over the ops it ran."""
        for line in self.op_lines:
            run = line.run
            np.minimum.at(self.runs.start, run, line.start)
            np.maximum.at(self.runs.end, run, line.end)
