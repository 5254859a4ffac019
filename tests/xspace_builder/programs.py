"""The plane `/host:metadata`: the HLO of the programs that ran."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from xspace_builder.hlo import HloModuleBuilder
from xspace_builder.planes import PlaneBuilder
from xspace_builder.space import XSpaceBuilder
from xspace_builder.values import Uint

METADATA_PLANE = "/host:metadata"
_UINT64 = (1 << 64) - 1


class ProgramIds(Enum):
    """Where a program's id stands."""

    KEY = (
        "the entry's key is the id (jax to 0.8, AMD); a signed key, where the id is an unsigned 64-bit number"
    )
    STAT = "keys count from 1 and a statistic `program_id` holds the id (jax 0.10 on CPU and TPU)"


def add_programs(
    space: XSpaceBuilder, modules: Iterable[HloModuleBuilder], ids: ProgramIds = ProgramIds.STAT
) -> PlaneBuilder:
    """Add the plane that holds the modules, among an entry that is no HLO, as in real files."""
    plane = space.plane(METADATA_PLANE)
    for module in modules:
        program_id = module.program_id & _UINT64
        name = f"{module.name}({program_id})"
        if ids is ProgramIds.STAT:
            plane.event_metadata(name, stats={"Hlo Proto": module.encode(), "program_id": Uint(program_id)})
        else:
            plane.event_metadata(name, key=module.program_id, stats={"Hlo Proto": module.encode()})
    plane.event_metadata("ThreadpoolListener::Region", key=1 << 40)
    return plane
