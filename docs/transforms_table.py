"""Write the table of docs/annotate.md: `python docs/transforms_table.py PYTHON...`, one for each jax."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path(__file__).with_name("annotate.md")
MARKED = re.compile(r"(<!-- transforms -->\n)(.*?)(<!-- /transforms -->)", re.DOTALL)
COLUMN = """
import json, sys
sys.path[:0] = sys.argv[1:]
import jax, transforms
print(json.dumps([jax.__version__, {name: transforms.found(name) for name in transforms.CASES}]))
"""


def read() -> dict[str, dict[str, str]]:
    """jax version -> transform -> what the page says is found."""
    match = MARKED.search(PAGE.read_text())
    assert match is not None
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in match[2].splitlines())
    return {
        version.removeprefix("jax "): {row[0]: "" if row[at] == "–" else row[at] for row in rows}
        for at, version in enumerate(head)
        if at
    }


def main(pythons: list[str]) -> None:
    """Run every case under each interpreter and write the table anew."""
    columns = {}
    for python in pythons:
        command = [python, "-c", COLUMN, str(ROOT), str(ROOT / "tests")]
        version, cells = json.loads(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
        columns[version] = cells
    rows = [["transform", *(f"jax {version}" for version in columns)], ["--"] * (len(columns) + 1)]
    rows += [
        [name, *(cells[name] or "–" for cells in columns.values())] for name in next(iter(columns.values()))
    ]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    PAGE.write_text(MARKED.sub(lambda match: match[1] + table + match[3], PAGE.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
