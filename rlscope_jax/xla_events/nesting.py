"""Who owns each instant of one line, where events nest or overlap.

RL-Scope's rule (Gleeson et al., MLSys 2021): of the events active at an instant the one that ends first
owns it; of those that end together the one that began last. For nested events this is the innermost.
"""

from __future__ import annotations

import numpy as np

from rlscope_jax.xla_events.compiled import compiled


@compiled
def flatten(start, end):
    """Cut a line's events, sorted by (start, longest first), into pieces that each have one owner.

    Returns (piece start, piece end, owner, parent): pieces are disjoint and in order, instants that no
    event covers belong to none; `parent[event]` is the event it began in, or -1.
    """
    count = len(start)
    piece_start = np.empty(2 * count + 1, np.int64)
    piece_end = np.empty(2 * count + 1, np.int64)
    owner = np.empty(2 * count + 1, np.int32)
    parent = np.empty(count, np.int32)
    active = np.empty(count + 1, np.int32)  # by end, latest first: the top owns the present
    depth = 0
    pieces = 0
    now = start[0] if count > 0 else np.int64(0)
    for event in range(count + 1):
        at = start[event] if event < count else np.iinfo(np.int64).max
        while depth > 0 and end[active[depth - 1]] <= at:
            top = active[depth - 1]
            if end[top] > now:
                piece_start[pieces], piece_end[pieces], owner[pieces] = now, end[top], top
                pieces += 1
                now = end[top]
            depth -= 1
        if event == count:
            break
        if depth > 0 and at > now:
            piece_start[pieces], piece_end[pieces], owner[pieces] = now, at, active[depth - 1]
            pieces += 1
        now = max(now, np.int64(at))
        place = depth
        while place > 0 and end[active[place - 1]] < end[event]:
            active[place] = active[place - 1]
            place -= 1
        parent[event] = active[place - 1] if place > 0 else -1
        active[place] = event
        depth += 1
    return piece_start[:pieces], piece_end[:pieces], owner[:pieces], parent


@compiled
def nearest(parent, flagged):
    """For each event the nearest flagged event among itself and its ancestors, or -1."""
    found = np.empty(len(parent), np.int32)
    for event in range(len(parent)):
        if flagged[event]:
            found[event] = event
        elif parent[event] >= 0:
            found[event] = found[parent[event]]
        else:
            found[event] = -1
    return found


@compiled
def is_ordered(start, duration):
    """Whether events stand by start, longest first. (In numba: comparing whole columns takes memory.)"""
    for event in range(1, len(start)):
        if start[event] < start[event - 1]:
            return False
        if start[event] == start[event - 1] and duration[event] > duration[event - 1]:
            return False
    return True


@compiled
def tails(start, end, produces, closing_start, closing_id):
    """From the start of each op's `end:` event (same flow id, within the op) to the op's end; else -1.

    `closing_*` are the `end:` events, sorted by id.
    """
    found = np.full(len(start), -1, np.int64)
    for op in range(len(start)):
        place = np.searchsorted(closing_id, produces[op])
        if place < len(closing_id) and closing_id[place] == produces[op]:
            begun = closing_start[place]
            if start[op] <= begun <= end[op]:
                found[op] = end[op] - begun
    return found
