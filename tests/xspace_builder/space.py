"""The file: planes of one host."""

from __future__ import annotations

from pathlib import Path

from xspace_builder import wire
from xspace_builder.planes import PlaneBuilder
from xspace_builder.values import Uint

SESSION = "2026_01_31_12_00_00"


class XSpaceBuilder:
    """One host's profile."""

    def __init__(self, hostname: str = "vm") -> None:
        self.hostname = hostname
        self.planes: list[PlaneBuilder] = []
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def plane(self, name: str, id: int = 0) -> PlaneBuilder:
        """Add a plane; names and ids may repeat, as they do in real files."""
        self.planes.append(PlaneBuilder(name, id))
        return self.planes[-1]

    def task_environment(self, start_unix_ns: int, stop_unix_ns: int) -> PlaneBuilder:
        """Add the plane that says when the session ran."""
        plane = self.plane("Task Environment")
        plane.stat("profile_start_time", Uint(start_unix_ns))
        plane.stat("profile_stop_time", Uint(stop_unix_ns))
        return plane

    def to_bytes(self) -> bytes:
        """The serialized XSpace."""
        out = [wire.chunk(1, plane.encode()) for plane in self.planes]
        out += [wire.chunk(2, error) for error in self.errors]
        out += [wire.chunk(3, warning) for warning in self.warnings]
        out += [wire.chunk(4, self.hostname)] if self.hostname else []
        return b"".join(out)

    def write(self, logdir: Path, session: str = SESSION) -> Path:
        """Write `<logdir>/plugins/profile/<session>/<hostname>.xplane.pb`, where the profiler would."""
        path = logdir / "plugins" / "profile" / session / f"{self.hostname}.xplane.pb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.to_bytes())
        return path
