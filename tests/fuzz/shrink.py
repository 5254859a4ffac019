"""Make a failing input small while it meets the same bug: `python -m fuzz.shrink FILE...`.

Each FILE is written again beside itself as FILE.small.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from fuzz.messages import BYTES, Field, join, split
from fuzz.reader import Reader

Item = TypeVar("Item")
Fails = Callable[[bytes], bool]


def shrink(content: bytes, fails: Fails) -> bytes:
    """A message that still fails and loses it with any field less; what is no message is left as it is."""
    fields = _fewer(split(content) or [], lambda kept: fails(join(kept)))
    for at, field in enumerate(fields):
        if field.wire_type == BYTES and field.content:
            fields[at] = Field(field.tag, _shrink_within(fields, at, fails))
    return join(fields) or content


def _shrink_within(fields: list[Field], at: int, fails: Fails) -> bytes:
    def fails_with(content: bytes) -> bool:
        return fails(join([*fields[:at], Field(fields[at].tag, content), *fields[at + 1 :]]))

    return b"" if fails_with(b"") else shrink(fields[at].content, fails_with)


def _fewer(items: list[Item], fails: Callable[[list[Item]], bool]) -> list[Item]:
    """Leave out ever smaller stretches, as long as it fails without them."""
    stretch = len(items)
    while stretch:
        at = 0
        while at < len(items):
            kept = items[:at] + items[at + stretch :]
            if fails(kept):
                items = kept
            else:
                at += stretch
        stretch //= 2
    return items


def shrink_file(path: Path, reader: Reader) -> str:
    """Write FILE.small; tells what it is the smallest input of."""
    content = path.read_bytes()
    where = reader.judge(content).where
    small = shrink(content, lambda candidate: reader.judge(candidate).where == where)
    path.with_name(f"{path.name}.small").write_bytes(small)
    return f"{path}: {where}: {len(content)} bytes -> {len(small)}"


def main(paths: list[str]) -> None:
    """Shrink these files."""
    with Reader() as reader:
        for path in paths:
            print(shrink_file(Path(path), reader), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
