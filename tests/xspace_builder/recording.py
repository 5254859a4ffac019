"""What profiles of every device kind have in common: one host, its Python thread, the programs that ran."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xspace_builder.hlo import HloModuleBuilder
from xspace_builder.lines import LineBuilder
from xspace_builder.ops import MS
from xspace_builder.planes import PlaneBuilder
from xspace_builder.programs import ProgramIds, add_programs
from xspace_builder.space import SESSION, XSpaceBuilder
from xspace_builder.values import Value

START_UNIX_NS = 1_796_000_000_000_000_000


@dataclass(frozen=True)
class Session:
    """One profiling session on one host."""

    hostname: str = "vm"
    jax_version: str = "0.10.2"
    duration: int = 100 * MS
    """In picoseconds."""
    base_ns: int = 0
    """Time base of the host's lines, which event times do not depend on."""


class Recording:
    """A profile being composed; `build` may be called at any time, and again."""

    program_ids = ProgramIds.STAT

    def __init__(self, session: Session = Session()) -> None:
        self.session = session
        self.host = PlaneBuilder("/host:CPU")
        self.python = self.thread("python", id=8_849_121_021_841_199_201)
        self._modules: dict[int, HloModuleBuilder] = {}

    def thread(self, name: str, *, id: int) -> LineBuilder:
        """Add a host thread."""
        return self.host.line(name, id=id, display_name=name, timestamp_ns=self.session.base_ns)

    def annotation(self, name: str, start: int, duration: int, **stats: Value) -> None:
        """Add a user's TraceAnnotation, which looks like any runtime event, to the Python thread."""
        self.python.event(name, start, duration, stats)

    def step(self, number: int, start: int, duration: int, name: str = "train") -> None:
        """Add a StepTraceAnnotation to the Python thread."""
        self.annotation(name, start, duration, _r=1, step_num=number)

    def add_program(self, module: HloModuleBuilder) -> None:
        """Put a module into the profile; programs that run are added by themselves."""
        self._modules[module.program_id] = module

    def device_planes(self) -> list[PlaneBuilder]:
        """The planes of the devices, none on CPU."""
        return []

    def build(self) -> XSpaceBuilder:
        """The file as the profiler would have written it."""
        space = XSpaceBuilder(self.session.hostname)
        metadata = add_programs(space, self._modules.values(), self.program_ids)
        if self.program_ids is ProgramIds.STAT:
            metadata.stat("jax_version", self.session.jax_version)
            metadata.stat("jaxlib_version", self.session.jax_version)
        space.planes += [*self.device_planes(), self.host]
        for plane in space.planes:
            for line in plane.lines:
                line.sort()
        space.task_environment(START_UNIX_NS, START_UNIX_NS + self.session.duration // 1000)
        return space

    def to_bytes(self) -> bytes:
        """The serialized XSpace."""
        return self.build().to_bytes()

    def write(self, logdir: Path, session: str = SESSION) -> Path:
        """Write the file where the profiler would (see `XSpaceBuilder.write`)."""
        return self.build().write(logdir, session)
