"""Spoil many files and tell what came of them: `python -m fuzz.mutate --count 10000 --seed 1`.

Input `n` of a seed is always the same, whatever the count. The first input of each bug can be kept.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz import corpus
from fuzz.mutations import mutate
from fuzz.reader import Reader, Verdict


@dataclass
class Campaign:
    """What came of many inputs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    bugs: dict[str, list[int]] = field(default_factory=dict)
    """Where a bug showed -> the numbers of the inputs that met it."""
    details: dict[str, str] = field(default_factory=dict)

    def add(self, number: int, verdict: Verdict) -> bool:
        """Count one input; tells whether it met a bug not met before."""
        self.outcomes[verdict.outcome] += 1
        if verdict.outcome != "bug":
            return False
        new = verdict.where not in self.bugs
        self.bugs.setdefault(verdict.where, []).append(number)
        self.details.setdefault(verdict.where, verdict.detail)
        return new

    def summary(self) -> str:
        """A few lines to print."""
        lines = [f"{sum(self.outcomes.values())} inputs: {dict(self.outcomes)}"]
        lines += [
            f"{len(inputs):6} x {where} (first: input {inputs[0]})"
            for where, inputs in sorted(self.bugs.items(), key=lambda bug: -len(bug[1]))
        ]
        return "\n".join(lines)


def inputs(files: dict[str, bytes], seed: int, numbers: range) -> Iterator[tuple[int, bytes]]:
    """Spoilt files, each made by its number and the seed alone."""
    names = list(files)
    for number in numbers:
        chance = Random(f"{seed}:{number}")
        name, other = chance.choice(names), chance.choice(names)
        yield number, mutate(files[name], files[other], chance)


def run(files: dict[str, bytes], seed: int, numbers: range, keep: Path | None = None) -> Campaign:
    """Spoil and read; the first input of each bug is written to `keep`."""
    campaign = Campaign()
    with Reader() as reader:
        for number, content in inputs(files, seed, numbers):
            if campaign.add(number, reader.judge(content)) and keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}-{number}.xplane.pb").write_bytes(content)
    return campaign


def main() -> int:
    """Run a campaign; the exit code is 1 when it met a bug."""
    parser = argparse.ArgumentParser(prog="fuzz.mutate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many inputs")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where to write the first input of each bug")
    parser.add_argument("--details", action="store_true", help="print a traceback of each bug")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.count)
    campaign = run(corpus.built() | corpus.recorded(), options.seed, numbers, options.keep)
    print(campaign.summary())
    if options.details:
        for where, detail in campaign.details.items():
            print(f"\n{where}\n{detail}")
    return 1 if campaign.bugs else 0


if __name__ == "__main__":
    raise SystemExit(main())
