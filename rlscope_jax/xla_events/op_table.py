"""Gather the ops that every line ran into one table of distinct ops and one of distinct runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlscope_jax.xla_events.trace import Ops, Runs

NO_PROGRAM = -1
NO_RUN = -1


@dataclass
class Kinds:
    """The kinds of op event one line holds: parallel columns, far shorter than the line.

    Texts are numbers from `OpTable.text`; `name` is -1 where the kind is no op.
    """

    program: np.ndarray
    name: np.ndarray
    kernel: np.ndarray
    op_path: np.ndarray
    run_id: np.ndarray
    module: np.ndarray


class OpTable:
    """Add each line's kinds, then `finish`: distinct ops, distinct runs, and each line's numbers in them."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._kinds: list[Kinds] = []

    def text(self, text: str) -> int:
        """The number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    def texts(self, texts: list[str]) -> np.ndarray:
        """int64: the numbers of several texts."""
        return np.array([self.text(text) for text in texts], np.int64)

    def add(self, kinds: Kinds) -> int:
        """Take a line's kinds; returns the line's place in what `finish` gives."""
        self._kinds.append(kinds)
        return len(self._kinds) - 1

    def finish(self) -> tuple[Ops, Runs, list[np.ndarray], list[np.ndarray]]:
        """(ops, runs, op of each kind by line, run of each kind by line); -1 for a kind that is no op."""
        columns = {
            column: np.concatenate(
                [np.zeros(0, np.int64), *(getattr(kinds, column) for kinds in self._kinds)]
            )
            for column in Kinds.__dataclass_fields__
        }
        valid = np.flatnonzero(columns["name"] >= 0)
        picked = {column: values[valid] for column, values in columns.items()}
        op_first, op = distinct(*(picked[column] for column in ("program", "name", "kernel", "op_path")))
        run_first, run = distinct(*(picked[column] for column in ("program", "run_id", "module")))
        texts = list(self._texts)
        ops = Ops(
            program=picked["program"][op_first],
            name=[texts[number] for number in picked["name"][op_first]],
            kernel=[texts[number] for number in picked["kernel"][op_first]],
            op_path=[texts[number] for number in picked["op_path"][op_first]],
        )
        runs = Runs.untimed(
            program=picked["program"][run_first],
            run_id=picked["run_id"][run_first],
            module=[texts[number] for number in picked["module"][run_first]],
        )
        return ops, runs, self._split(valid, op), self._split(valid, run)

    def _split(self, valid: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
        lengths = [len(kinds.name) for kinds in self._kinds]
        filled = np.full(sum(lengths), -1, np.int32)
        filled[valid] = numbers
        return np.split(filled, np.cumsum(lengths)[:-1]) if lengths else []


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first place of each distinct row, number of each row) of parallel int64 columns."""
    number = np.zeros(len(columns[0]), np.int64)
    first = number
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        _, first, number = np.unique(
            number * max(len(values), 1) + code, return_index=True, return_inverse=True
        )
    return first, number
