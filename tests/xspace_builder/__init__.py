"""Profiles written by hand: XSpace files of any shape whose truth is known.

Three layers, each usable alone:

- `XSpaceBuilder` writes planes, lines, events and statistics as told, sound or broken;
- `HloModuleBuilder` and `add_programs` put compiled programs beside them;
- `CpuTrace`, `GpuTrace` and `TpuTrace` compose what a device kind's profiler records, and return what is true
  of it. `xspace_builder.strategies` draws random ones for hypothesis.

Times are picoseconds since the session's start.
"""

from xspace_builder.cpu import CpuTrace, Run
from xspace_builder.gpu import AMD, NVIDIA, GpuTrace, GpuVendor, Launch
from xspace_builder.hlo import ComputationBuilder, HloModuleBuilder, Instruction
from xspace_builder.lines import INT64_MAX, Event, LineBuilder
from xspace_builder.modules import module_of
from xspace_builder.ops import MS, NS, US, Op, PlacedOp, place, self_times
from xspace_builder.planes import PlaneBuilder
from xspace_builder.programs import ProgramIds, add_programs
from xspace_builder.recording import Recording, Session
from xspace_builder.space import XSpaceBuilder
from xspace_builder.tpu import ModuleRun, TpuTrace
from xspace_builder.values import DanglingRef, Ref, Uint

__all__ = [
    "AMD",
    "INT64_MAX",
    "MS",
    "NS",
    "NVIDIA",
    "US",
    "ComputationBuilder",
    "CpuTrace",
    "DanglingRef",
    "Event",
    "GpuTrace",
    "GpuVendor",
    "HloModuleBuilder",
    "Instruction",
    "Launch",
    "LineBuilder",
    "ModuleRun",
    "Op",
    "PlacedOp",
    "PlaneBuilder",
    "ProgramIds",
    "Recording",
    "Ref",
    "Run",
    "Session",
    "TpuTrace",
    "Uint",
    "XSpaceBuilder",
    "add_programs",
    "module_of",
    "place",
    "self_times",
]
