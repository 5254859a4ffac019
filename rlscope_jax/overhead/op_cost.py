"""What each op event says of its own cost, line by line.

XLA:CPU records a second event, `end: <op>`, before it closes an op's own: from there to the op's end (the
tail) nothing happens but recording, and little else from the end of an op to the start of the next (the gap).
What an op event costs in all is about a fixed multiple of these, whatever the thread, the allocator or the
machine's mood (see docs/correction.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlscope_jax.overhead.new_memory import NONE, NewMemory
from rlscope_jax.xla_events.compiled import compiled
from rlscope_jax.xla_events.trace import OpLine

LONGEST_GAP = 10_000_000
"""ps; between two ops of a loop lies the start of the next. Longer than this, something else happened."""
INTERRUPTED = 2.0
"""Times the line's typical tail, or gap: the rest of a longer one is something else.

Of a tail, that the thread lost the processor. Of a gap, the loop's own work: an op that is the first of its
loop's body has the loop's condition and counting before it, 150 to 250 ns more than others.
"""
TOUCH = 1_000_000
"""ps; the first touch of a page takes longer."""
FEWEST_LONG, NEARBY = 50, 500
"""Long tails that say where memory was new, and ops over which they are counted.

Windows of 50,000 ops have up to 50 long ones by other causes; where memory was new one op in 200 had one.
"""
UNSEEN = 1.33
"""In tails: what recording takes within the op before its `end:` event. A fit over 22 programs found 1.34."""
USUAL_GAP = 0.65
"""In tails: the mean of the same programs."""


@dataclass
class OpCosts:
    """The op events of one line."""

    line: OpLine
    """The line with every op beginning where the one before it ended: the gap is the start of the op.

    Of a long one the part next to the op.
    """
    units: np.ndarray
    """float64[events], ps: what recording each op took of the time that shows, and what new memory adds.

    See `_units`. Ones where no op of the recording left a tail; zeros where the device leaves none.
    """
    doubt: float = 0.0
    """ps: how far each of them may be off for the sake of that."""


def has_tails(lines: list[OpLine]) -> bool:
    """Whether any op told its own cost (jax 0.8 and later, on CPU)."""
    return any(line.tail is not None and bool((line.tail >= 0).any()) for line in lines)


def op_costs(
    lines: list[OpLine], memory: NewMemory = NONE, looping: Sequence[np.ndarray] | None = None
) -> list[OpCosts]:
    """The costs of every line's ops, in units that a single factor turns into picoseconds.

    Args:
        lines: the op lines.
        memory: what new memory adds to every event.
        looping: per line, which ops lie in a loop that left no event, see `loops.in_cut_loops`.
    """
    within = looping if looping is not None else [np.zeros(len(line.start), bool) for line in lines]
    if not has_tails(lines):
        each = [float(line.tail is not None) for line in lines]  # of a GPU or TPU: timed by the device
        return [
            OpCosts(_closed_up(line, inside), np.full(len(line.start), one))
            for line, inside, one in zip(lines, within, each, strict=True)
        ]
    # An op and its `end:` are two events.
    return [
        OpCosts(_closed_up(line, inside), _units(line) + of_memory, 2 * memory.doubt)
        if line.tail is not None
        else OpCosts(line, np.zeros(len(line.start)))
        for line, inside, of_memory in zip(lines, within, _memory(lines, 2 * memory.per_event), strict=True)
    ]


def _memory(lines: list[OpLine], each: float) -> list[np.ndarray]:
    """What new memory adds to the ops of every line: `each` on average, most where many tails are long.

    A window begins in memory that was used before; where that ends, one tail in some hundreds holds the first
    touch of a page. Ops near each other get the same.
    """
    even = [np.full(len(line.start), each) for line in lines]
    if each <= 0:
        return even
    long = [_long_tails(line) for line in lines]
    if sum(int((one > 0).sum()) for one in long) < FEWEST_LONG:
        return even
    near = [_means_nearby(one) for one in long]
    ops = sum(len(line.start) for line in lines if line.tail is not None)
    scale = each * ops / sum(float(one.sum()) for one in near)
    return [scale * one for one in near]


def _long_tails(line: OpLine) -> np.ndarray:
    """float64[events], ps: by how much each tail is too long for anything but the touch of a page."""
    if line.tail is None or not (line.tail >= 0).any():
        return np.zeros(len(line.start))
    excess = line.tail - INTERRUPTED * float(np.median(line.tail[line.tail >= 0]))
    return np.where(excess > TOUCH, np.minimum(excess, LONGEST_GAP), 0.0)


def _means_nearby(values: np.ndarray) -> np.ndarray:
    """Each the mean of its block of neighbours."""
    if len(values) == 0:
        return values
    begins = np.arange(0, len(values), NEARBY)
    sizes = np.diff(np.append(begins, len(values)))
    return np.repeat(np.add.reduceat(values, begins) / sizes, sizes)


def _units(line: OpLine) -> np.ndarray:
    """Each op's tail, the line's usual one where it left none, as much longer as the line's gaps are.

    What an op costs in all is its tail, what is unseen of it, and the gap. Tails tell best which op had how
    much of that. A gap longer than a tail holds other work: threads that share a run's ops hand them over.
    """
    assert line.tail is not None
    left = line.tail >= 0  # an op that ended on another thread (asynchronously) left its mark there
    typical = float(np.median(line.tail[left])) if left.any() else 0.0
    tails = np.minimum(np.where(left, line.tail, typical), INTERRUPTED * typical)
    gap = gaps(line.start, line.end, LONGEST_GAP, np.ones(len(line.start), bool), line.run)
    gap = gap[gap > 0]
    if len(gap) == 0 or typical == 0:
        return tails.astype(np.float64)
    seen = 1 + UNSEEN
    usual = np.minimum(gap, typical).mean() / tails.mean()
    return tails * ((seen + usual) / (seen + USUAL_GAP))


def _closed_up(line: OpLine, inside: np.ndarray) -> OpLine:
    if line.tail is None:
        return line
    before = gaps(line.start, line.end, LONGEST_GAP, inside, line.run)
    if (before > 0).any():
        before = np.minimum(before, round(INTERRUPTED * float(np.median(before[before > 0]))))
    return replace(line, start=line.start - before)


@compiled
def gaps(start, end, longest, inside, run):
    """From the end of the sibling before each event to its own start.

    0 for the first event in another (what precedes it is the start of that one too), and where it is longer
    than `longest`. An event in no other has one where it and the one before are `inside` a loop that left no
    event, of one run. Events are sorted by start, longest first, and nest.
    """
    found = np.zeros(len(start), np.int64)
    stack = np.empty(len(start) + 1, np.int64)
    free_from = np.empty(len(start) + 1, np.int64)  # per open event: when its last child ended
    depth = 0
    before = -1  # the last event in no other
    for event in range(len(start)):
        while depth > 0 and end[stack[depth - 1]] <= start[event]:
            depth -= 1
        if depth > 0 and end[event] <= end[stack[depth - 1]]:
            gap = start[event] - free_from[depth - 1]
            if 0 < gap <= longest and free_from[depth - 1] > start[stack[depth - 1]]:
                found[event] = gap
            free_from[depth - 1] = max(free_from[depth - 1], end[event])
        elif depth == 0:
            if before >= 0 and inside[event] and inside[before] and run[event] == run[before]:
                gap = start[event] - end[before]
                if 0 < gap <= longest:
                    found[event] = gap
            before = event
        stack[depth] = event
        free_from[depth] = start[event]
        depth += 1
    return found
