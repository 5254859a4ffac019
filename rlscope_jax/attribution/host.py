"""What each host thread did: pieces of time with a category and an operation, and the calls it made."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rlscope_jax.attribution import host_names
from rlscope_jax.names import EDGE_NAME, decode, join
from rlscope_jax.xla_events.nesting import flatten, nearest
from rlscope_jax.xla_events.trace import HostThread, Step

NO_EVENT = -1


@dataclass
class Paths:
    """The host-side operation paths met, each with a number; number 0 is "no operation"."""

    text: list[str] = field(default_factory=lambda: [""])
    kind: list[str] = field(default_factory=lambda: ["special"])
    _known: dict[str, int] = field(default_factory=lambda: {"": 0})

    def number(self, path: str, kind: str) -> int:
        """The number of a path; a mark outranks an annotation of the same name."""
        if path not in self._known:
            self._known[path] = len(self.text)
            self.text.append(path)
            self.kind.append(kind)
        elif kind == "mark":
            self.kind[self._known[path]] = kind
        return self._known[path]


@dataclass
class HostActivity:
    """One host thread, cut into disjoint pieces, and what it asked of the device.

    `pieces_*` are parallel: start and end in ps, the event that owns the piece (an index into the
    thread's events, or `NO_EVENT` between events), its category and its path number.
    """

    thread: HostThread
    piece_start: np.ndarray
    piece_end: np.ndarray
    piece_event: np.ndarray
    piece_category: np.ndarray
    piece_path: np.ndarray
    event_path: np.ndarray
    """int32[events]: path number every event runs under."""
    executes: np.ndarray
    """Events that enqueue a program, in time order."""
    execute_root: np.ndarray
    """The outermost dispatch event around each event (itself included), or -1."""
    compiles: np.ndarray
    """Events that compile a program."""
    syncs: np.ndarray
    """Events in which the host waits for a value."""
    transfers: np.ndarray
    """Events that move data between host and device."""
    charged: np.ndarray
    """Per event: path number of the root mark that a dispatch under no host operation is charged to."""
    function: list[str | None]
    """Per execute: the jitted function called, where known."""
    parent: np.ndarray
    """Per event: the event it lies in, or -1."""
    marked: bool
    """Whether an operation of ours ran here."""


def read_thread(thread: HostThread, paths: Paths) -> HostActivity:
    """Cut a host thread into pieces and find its dispatches, compiles and steps."""
    event_name = thread.event
    known = [*thread.event_names, ""]
    inline = thread.op >= 0

    category_of_name = np.array([host_names.category(name) for name in known], np.int64)
    category = np.where(inline, host_names.INLINE, category_of_name[event_name])
    # CUPTI's calls stand on the thread that made them; their names (cuLaunchKernel, hipMemcpyAsync) are many.
    category[thread.driver & (category == host_names.ANNOTATION)] = host_names.DISPATCH

    piece_start, piece_end, piece_event, parent = flatten(thread.start, thread.end)
    # Within a dispatch or a compile an unknown name is the runtime's own (thunks, passes), unless a
    # callback has brought the program's code back in.
    calls = inline | (category == host_names.DISPATCH) | (category == host_names.COMPILE)
    within = nearest(parent, calls)
    foreign = (within >= 0) & ~inline[within]
    annotation = (category == host_names.ANNOTATION) & ~foreign
    category = np.where((category == host_names.ANNOTATION) & foreign, category[within], category)
    compiling = foreign & (category[within] == host_names.COMPILE)
    category = np.where((category == host_names.RUNTIME) & compiling, host_names.COMPILE, category)
    event_path = _paths(known, event_name, parent, annotation, paths)
    effective = _effective_category(category, parent)
    names_function = np.array([host_names.function_name(name) is not None for name in known], bool)[
        event_name
    ]
    is_execute = np.array([host_names.is_execute(name) for name in known], bool)[event_name] & ~inline
    is_compile = np.array([host_names.is_backend_compile(name) for name in known], bool)[event_name] & ~inline

    # What a callback calls is a call of its own, though it runs within the program that called back.
    call_parent = np.where((parent >= 0) & inline[parent], -1, parent)
    caller = nearest(call_parent, names_function)
    executes = np.flatnonzero(is_execute & ~_inside(call_parent, is_execute))
    compiles = np.flatnonzero(is_compile & ~_inside(parent, is_compile))
    is_transfer = category == host_names.TRANSFER
    is_wait = category == host_names.WAIT
    is_edge = np.array([name == EDGE_NAME for name in known], bool)[event_name]
    syncs = np.flatnonzero(is_wait & ~is_edge & ~_inside(parent, is_wait))
    root = _outermost(call_parent, names_function | is_execute)

    piece_start, piece_end, piece_event = _fill_gaps(piece_start, piece_end, piece_event, thread.steps)
    piece_category = of_piece(effective, piece_event, host_names.PYTHON)
    piece_category = _compile_pieces(piece_category, piece_event, piece_end, root, compiles, thread.end)
    return HostActivity(
        thread=thread,
        piece_start=piece_start,
        piece_end=piece_end,
        piece_event=piece_event,
        piece_category=piece_category,
        piece_path=of_piece(event_path, piece_event, 0).astype(np.int32),
        event_path=event_path,
        executes=executes,
        execute_root=root,
        compiles=compiles,
        syncs=syncs,
        transfers=np.flatnonzero(is_transfer & ~_inside(parent, is_transfer)),
        charged=np.zeros(len(parent) + 1, np.int32),
        function=[
            host_names.function_name(known[event_name[caller[event]]]) if caller[event] >= 0 else None
            for event in executes
        ],
        parent=parent,
        marked=any(decode(known[name]) is not None for name in np.unique(event_name).tolist()),
    )


def of_piece(values: np.ndarray, event: np.ndarray, absent: int) -> np.ndarray:
    """What `values` says of the event that owns each piece; `absent` for a piece without one."""
    return np.append(values, absent)[event]


def is_program_thread(activity: HostActivity) -> bool:
    """Whether the thread runs the user's program: Python's own, or one that called jax or was marked."""
    annotated = len(activity.transfers) or (activity.event_path > 0).any()
    return bool(
        (activity.thread.name.startswith("python") and annotated)
        or len(activity.executes)
        or len(activity.compiles)
        or activity.thread.steps
        or activity.marked
    )


def _paths(
    known: list[str], event_name: np.ndarray, parent: np.ndarray, annotation: np.ndarray, paths: Paths
) -> np.ndarray:
    """The path number of every event: the annotations around it, outermost first."""
    around = nearest(parent, annotation)
    path = np.zeros(len(parent), np.int32)
    cache: dict[tuple[int, int], int] = {}
    for event in np.flatnonzero(annotation):  # parents come first
        outer = around[parent[event]] if parent[event] >= 0 else -1
        key = (int(path[outer]) if outer >= 0 else 0, int(event_name[event]))
        if key not in cache:
            text = known[key[1]]
            mark = decode(text)
            kind = "annotation" if mark is None else "mark"
            cache[key] = paths.number(join(paths.text[key[0]], text if mark is None else mark), kind)
        path[event] = cache[key]
    return np.where(around >= 0, path[around], 0).astype(np.int32)


def _effective_category(category: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """A user's annotation takes the category of what it runs in: python, or a callback."""
    runtime = nearest(parent, category != host_names.ANNOTATION)
    return np.where(runtime >= 0, category[runtime], host_names.PYTHON)


def _inside(parent: np.ndarray, flagged: np.ndarray) -> np.ndarray:
    """Which events lie within a flagged event other than themselves."""
    around = nearest(parent, flagged)
    return (parent >= 0) & (around[parent] >= 0)


def _outermost(parent: np.ndarray, flagged: np.ndarray) -> np.ndarray:
    """The outermost flagged event around each event (itself included), or -1."""
    outermost = np.full(len(parent), -1, np.int32)
    around = nearest(parent, flagged)
    for event in np.flatnonzero(flagged):  # parents come first
        above = around[parent[event]] if parent[event] >= 0 else -1
        outermost[event] = outermost[above] if above >= 0 else event
    return np.where(around >= 0, outermost[around], -1).astype(np.int32)


def _fill_gaps(
    start: np.ndarray, end: np.ndarray, event: np.ndarray, steps: list[Step]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add a piece without an event wherever none is, from the thread's first sign of life to its last."""
    bounds = np.array([[step.start, step.end] for step in steps], np.int64).reshape(-1, 2)
    first = min([*start[:1].tolist(), *bounds[:, 0].tolist()], default=0)
    last = max([*end[-1:].tolist(), *bounds[:, 1].tolist()], default=0)
    start, end = np.append(np.append(first, start), last), np.append(np.append(first, end), last)
    event = np.append(np.append(NO_EVENT, event), NO_EVENT).astype(np.int32)
    gaps = np.flatnonzero(start[1:] > end[:-1])
    merged_start = np.concatenate([start, end[gaps]])
    order = np.argsort(merged_start, kind="stable")
    merged_end = np.concatenate([end, start[gaps + 1]])
    merged_event = np.concatenate([event, np.full(len(gaps), NO_EVENT, event.dtype)])
    order = order[merged_end[order] > merged_start[order]]
    return merged_start[order], merged_end[order], merged_event[order]


def _compile_pieces(
    category: np.ndarray,
    event: np.ndarray,
    end: np.ndarray,
    root: np.ndarray,
    compiles: np.ndarray,
    event_end: np.ndarray,
) -> np.ndarray:
    """A call that compiles traces and lowers first, without events of its own: that is compile time."""
    until = np.full(len(event_end) + 1, np.iinfo(np.int64).min)
    for compiled in compiles:
        if root[compiled] >= 0:
            until[root[compiled]] = max(until[root[compiled]], event_end[compiled])
    call = of_piece(root, event, -1)
    before = (category == host_names.DISPATCH) & (call >= 0) & (end <= until[call])
    return np.where(before, host_names.COMPILE, category)
