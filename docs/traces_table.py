"""Write the table of docs/traces.md from real profiles: `python docs/traces_table.py FOLDER`."""

import re
import sys
from collections import Counter
from pathlib import Path

from rlscope_jax import load
from rlscope_jax.errors import RlscopeError

PAGE = Path(__file__).with_name("traces.md")
MARKED = re.compile(r"(<!-- table -->\n).*?(<!-- /table -->)", re.DOTALL)
HEAD = ("file", "verdict", "health", "devices with data", "device self, ns", "ops", "dispatches", "evidence")


def table(folder: Path) -> str:
    """One row for each profile under the folder, in Markdown."""
    rows = [HEAD, ("--",) * 3 + ("--:",) * 4 + ("--",)]
    rows += [_row(path, folder) for path in sorted(folder.glob("*/*.xplane.pb"))]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page(folder: Path) -> str:
    """The whole page, its table written anew."""
    return MARKED.sub(lambda match: match[1] + table(folder) + match[2], PAGE.read_text())


def _row(path: Path, folder: Path) -> tuple[str, ...]:
    name = str(path.relative_to(folder)).removesuffix(".xplane.pb")
    try:
        report = load(path).to_dict()
    except RlscopeError:
        return (name, "refused", *("",) * 6)
    devices, counts = report["devices"], report["counts"]
    own = report["totals"]["device_self"]["raw"]
    return (
        name,
        report["health"]["verdict"],
        ", ".join(f"`{problem['code']}`" for problem in report["health"]["problems"]),
        f"{sum(device['self']['raw'] is not None for device in devices)} of {len(devices)}",
        "no data" if own is None else f"{own:,}",
        f"{counts['device_ops']:,}",
        f"{counts['dispatches']:,}",
        _evidence(report["operations"]),
    )


def _evidence(rows: list[dict]) -> str:
    """Shares of the device self time, the largest first."""
    time = Counter[str]()
    for row in rows:
        for evidence, share in row["evidence"].items():
            time[evidence] += share * row["device"]["self"]["raw"]
    whole = sum(time.values())
    return ", ".join(f"{name} {100 * part / whole:.1f} %" for name, part in time.most_common())


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1])))
