"""What every dialect makes of an XSpace: device lines, host threads, and the table of executed ops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rlscope_jax.xla_events.hlo import Programs
from rlscope_jax.xla_events.xspace import Line


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
    op: np.ndarray
    """int32[events]: row of `Ops`."""
    run: np.ndarray
    """int32[events]: row of `Runs`."""
    tail: np.ndarray
    """int64[events]: from the start of the op's own `end:` event to its end, ps; -1 without one.

    It holds only profiling overhead (see docs on correction) and is never counted as work of its own.
    """
    host_line: int = -1
    """Index of the host thread these ops ran on inline, -1 for a worker."""
    launch: np.ndarray | None = None
    """int32[events]: row of `Launches` that each op was launched by, -1 without; None where none exist."""


@dataclass
class HostThread:
    """The events of one host thread, sorted by start (longest first), `end:` marks left out."""

    name: str
    line: Line
    order: np.ndarray
    """int64[events]: index into the line's columns."""
    start: np.ndarray
    end: np.ndarray
    op: np.ndarray
    """int32[events]: row of `Ops` for an op that ran here inline, else -1."""
    run: np.ndarray
    """int32[events]: row of `Runs` likewise."""


@dataclass
class Trace:
    """One host's profile, device kinds made alike."""

    host: str
    ops: Ops
    runs: Runs
    programs: Programs
    launches: Launches = field(default_factory=Launches.none)
    devices: list[Device] = field(default_factory=list)
    op_lines: list[OpLine] = field(default_factory=list)
    host_threads: list[HostThread] = field(default_factory=list)
    worker_lines: list[Line] = field(default_factory=list)
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
