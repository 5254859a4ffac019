"""Profiles of GPUs: kernels on streams, tied by a correlation id to their launch on a host thread.

AMD is read off real traces of jax 0.8; NVIDIA follows the sources of XLA and is unverified.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from xspace_builder.hlo import HloModuleBuilder
from xspace_builder.lines import Event, LineBuilder
from xspace_builder.ops import NS, US
from xspace_builder.planes import PlaneBuilder
from xspace_builder.programs import ProgramIds
from xspace_builder.recording import Recording, Session
from xspace_builder.values import Ref, StatKey, Uint, Value


@dataclass(frozen=True)
class GpuVendor:
    """What one vendor's tools call things."""

    name: str
    kernel_line: str
    """Activity that a stream's line is named after."""
    launch: str
    copy_launch: str
    kernel_details: str
    host_device_id: int
    """The `device_id` of a launch, which need not be the device's number."""


AMD = GpuVendor(
    "AMD",
    "Kernel",
    "hipModuleLaunchKernel",
    "hipMemcpyHtoDAsync",
    " grid:4,64,1 block:256,1,1 private_mem:0 group_mem:8704 occ_pct:0",
    768,
)
NVIDIA = GpuVendor(
    "Nvidia",
    "Compute",
    "cuLaunchKernel",
    "cuMemcpyHtoDAsync_v2",
    "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:256,1,1 occ_pct:100",
    0,
)


@dataclass(frozen=True)
class Launch:
    """One kernel or copy: its launch on the host, and its execution on the device."""

    correlation_id: int
    host: Event
    device: Event


class GpuTrace(Recording):
    """A profile of a host with GPUs being composed."""

    program_ids = ProgramIds.KEY

    def __init__(
        self,
        devices: int = 1,
        vendor: GpuVendor = AMD,
        session: Session = Session(),  # noqa: B008 (immutable)
    ) -> None:
        """A device that runs nothing has a plane without lines."""
        super().__init__(session)
        self.vendor = vendor
        self.devices = [PlaneBuilder(f"/device:GPU:{number}", number) for number in range(devices)]
        for plane in self.devices:
            plane.stat("device_vendor", vendor.name)
        self.launcher = self.thread("Host Threads/2356", id=2356)
        self._correlation_ids = count(1)

    def device_planes(self) -> list[PlaneBuilder]:
        """One plane a GPU."""
        return self.devices

    def stream(self, number: int = 16, device: int = 0, activity: str | None = None) -> LineBuilder:
        """Add a stream; `activity` may be `MemcpyH2D` and the like, or "" for none in the line's name."""
        if activity is None:
            activity = self.vendor.kernel_line
        name = f"Stream #{number}({activity})" if activity else f"Stream #{number}"
        return self.devices[device].line(name, id=number, timestamp_ns=self.session.base_ns)

    def dispatch(self, module: HloModuleBuilder, at: int, duration: int = 50 * US) -> Event:
        """Call a jitted function from Python; launch its kernels within the time this takes."""
        self.add_program(module)
        name = f"PjitFunction({module.name.removeprefix('jit_')})"
        outer = self.python.event(name, at, duration)
        self.python.event(name, at + 500 * NS, duration - 1_000 * NS)
        self.python.event(
            "PjRtStreamExecutorLoadedExecutable::Execute", at + 2_000 * NS, duration - 4_000 * NS
        )
        return outer

    def kernel(
        self,
        name: str,
        stream: LineBuilder,
        *,
        at: int,
        start: int,
        duration: int,
        module: HloModuleBuilder | None = None,
        hlo_op: str = "",
        launch_duration: int = 4 * US,
        correlation_id: int | None = None,
    ) -> Launch:
        """Launch a kernel at time `at`, to run at `start`; a library's kernel may have no module or op."""
        place: list[tuple[StatKey, Value]] = []
        if module is not None:
            self.add_program(module)
            place = _place(module, hlo_op)
        details = ("kernel_details", Ref(self.vendor.kernel_details))
        return self._launch(
            (self.vendor.launch, at, launch_duration),
            (name, start, duration),
            stream,
            place,
            details,
            correlation_id,
        )

    def copy(
        self, stream: LineBuilder, *, at: int, start: int, duration: int, name: str = "MemcpyH2D"
    ) -> Launch:
        """Copy between host and device; such events name no program."""
        details = ("memcpy_details", Ref("kind:Unknown size:655360 dest:2 async:1"))
        call = (self.vendor.copy_launch, at, 4 * US)
        return self._launch(call, (name, start, duration), stream, [], details, None)

    def _launch(
        self,
        call: tuple[str, int, int],
        execution: tuple[str, int, int],
        stream: LineBuilder,
        place: list[tuple[StatKey, Value]],
        details: tuple[StatKey, Value],
        correlation_id: int | None,
    ) -> Launch:
        number = next(self._correlation_ids) if correlation_id is None else correlation_id
        tie: tuple[StatKey, Value] = ("correlation_id", Uint(number))
        device_id: tuple[StatKey, Value] = ("device_id", Uint(self.vendor.host_device_id))
        host = self.launcher.event(*call, [device_id, tie, *place])
        return Launch(number, host, stream.event(*execution, [tie, details, *place]))


def _place(module: HloModuleBuilder, hlo_op: str) -> list[tuple[StatKey, Value]]:
    instruction = module.instruction(hlo_op)
    scope: list[tuple[StatKey, Value]] = []
    if instruction is not None and instruction.op_name:
        scope = [("name", Ref(instruction.op_name))]
    return [
        ("tf_op", Ref("XlaModule:")),
        *scope,
        ("hlo_op", Ref(hlo_op)),
        ("hlo_module", Ref(module.name)),
        ("program_id", module.program_id),
    ]
