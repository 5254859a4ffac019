"""What the runtime's own host events are: a table of names seen, by the jax version they were seen in.

A user's TraceAnnotation looks exactly like a runtime event, so only a table tells them apart: any name
not listed here, on a thread of the program, is the user's. Names end before `#` or `(`.
"""

from __future__ import annotations

import re
from functools import cache

PYTHON, DISPATCH, INLINE, COMPILE, TRANSFER, CALLBACK, WAIT, WAIT_INFERRED, RUNTIME = range(9)
CATEGORIES = (
    "python", "dispatch", "inline", "compile", "transfer", "callback", "wait", "wait_inferred", "runtime",
)  # fmt: skip
ANNOTATION = -1

# jax 0.4.38 to 0.11.2, CPU and GPU. A `*` at the end matches any rest.
_TABLE: dict[int, tuple[str, ...]] = {
    DISPATCH: (
        "PjitFunction*", "PmapFunction*", "ParseArguments", "ExecuteReplicated.__call__",
        "TfrtCpuExecutable::Execute*", "PjRtCpuExecutable::Execute*", "PjRtStreamExecutorLoadedExecutable::*",
        "CommonPjRtLoadedExecutable::*", "CommonPjRtClient::CreateOutputs", "PJRT_LoadedExecutable_Execute*",
        "PjRtCApiLoadedExecutable::*", "IfrtLoadedExecutable*", "PyLoadedExecutable*",
        "Handle inputs", "Handle input event recording", "AllocateOutputBuffersWithInputReuse",
        "ThunkExecutor::Execute*", "GpuExecutable::*", "Thunks::*", "MakeOutputBuffers",
        "Build buffer allocations",
        "Resolve constant globals", "ComputeSemaphoreAcquire", "pjit cache miss", "cpp_pjit*",
    ),
    COMPILE: (
        "backend_compile", "backend_compile_and_load",
        "lower_sharding_computation", "lower_jaxpr*", "lower_parallel_callable",
        "trace_to_jaxpr*", "create_pjit_jaxpr*", "infer_params*", "PjRtCpuClient::Compile*", "XlaCompile*",
        "PjRtStreamExecutorClient::Compile*", "PJRT_Client_Compile*", "compile_or_get_cached*",
        "DeserializeExecutable*", "_compile_and_write_cache*", "CpuCompiler::*", "NVPTXCompiler::*",
    ),
    TRANSFER: (
        "shard_args", "DevicePut*", "batched_device_put*", "batched_copy_array_to_devices_with_sharding*",
        "BatchedCopyToDeviceWithSharding*", "BatchedDevicePut*", "CopyToDevice*", "CopyRawToHost*",
        "BufferFromHostBuffer*", "PjRtStreamExecutorClient::*", "TransferToInfeed*", "TransferFromOutfeed*",
        "device_get", "ToLiteral*", "PyArray::*", "copy_to_host_async*", "ArrayImpl.*",
    ),
    WAIT: (
        "np.asarray(jax.Array)", "block_until_ready*", "CommonPjRtBuffer::Await*", "PjRtBuffer::Await*",
        "PjRtFuture::*", "BlockUntilReady*", "BlockHostUntil*", "rlscope_edge",
    ),
    RUNTIME: (
        "PythonRefManager::*", "Wait for donation holds", "Wait for usage holds", "RecordUsage",
        "MemoryDeallocation", "MemoryAllocation", "ThenExecuteCallback", "PjRtStreamExecutorBuffer::*",
        "ThreadpoolListener::*", "CommonPjRtBuffer::*", "TfrtCpuBuffer::*", "AbstractCpuBuffer::*",
    ),
}  # fmt: skip

_EXECUTE = re.compile(r"\w*Executable::Execute")
_RUNTIME_METHOD = re.compile(r"[A-Z]\w*::\w")  # C++: a user's own name rarely looks so


@cache
def category(name: str) -> int:
    """The host category of a runtime event, `ANNOTATION` for a name of the user's."""
    for kind, names in _TABLE.items():
        if any(_matches(name, known) for known in names):
            return kind
    return RUNTIME if _RUNTIME_METHOD.match(name) else ANNOTATION


def function_name(name: str) -> str | None:
    """The jitted function of a `PjitFunction(f)` event, None for another event.

    A call compiled ahead of time says `PjitFunction(jit(f))`.
    """
    for prefix in ("PjitFunction(", "PmapFunction("):
        if name.startswith(prefix) and name.endswith(")"):
            return _within(_within(name[len(prefix) : -1], "jit("), "pmap(")
    return None


def _within(name: str, wrapper: str) -> str:
    return name[len(wrapper) : -1] if name.startswith(wrapper) and name.endswith(")") else name


def is_execute(name: str) -> bool:
    """Whether the event enqueues an execution of a program; within it others may, once per device."""
    return _EXECUTE.match(name) is not None


def is_backend_compile(name: str) -> bool:
    """Whether the event is one compilation of one program."""
    return name in ("backend_compile", "backend_compile_and_load")


def is_lowering(name: str) -> bool:
    """Whether the event is the lowering of one program."""
    return name in ("lower_sharding_computation", "lower_parallel_callable")


def _matches(name: str, known: str) -> bool:
    return name.startswith(known[:-1]) if known.endswith("*") else name == known
