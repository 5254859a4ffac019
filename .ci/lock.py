"""Write requirements.lock: `python .ci/lock.py PYTHON OLDEST_PYTHON` (what `make lock` runs).

The lock is a pip constraints file. It is resolved twice, for the oldest supported Python and for a newer
one, because jax, flax, numpy and scipy drop old Pythons before we do; versions that differ carry a marker.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "dev,tensorboard"
OWN_NAME = "rlscope-jax"
HEADER = """\
# Exact versions of everything the tests, the examples and the TensorBoard plugin install.
# A pip constraints file, made by `make lock`; do not edit.
"""


def resolve(python: str) -> dict[str, str]:
    """Name -> version of what pip would install for our extras into an empty environment."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
        pip_install = [f"{folder}/venv/bin/python", "-m", "pip", "install", "-qq"]
        subprocess.run([*pip_install, "--dry-run", "--report", report, f"{ROOT}[{EXTRAS}]"], check=True)
        installs = [item["metadata"] for item in json.loads(report.read_text())["install"]]
    pins = {re.sub(r"[-_.]+", "-", item["name"]).lower(): item["version"] for item in installs}
    del pins[OWN_NAME]
    return pins


def version_of(python: str) -> str:
    """An interpreter's `major.minor`."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def merge(old: dict[str, str], new: dict[str, str], boundary: str) -> list[str]:
    """One line a pin, with a Python marker where the two resolutions differ."""
    lines = []
    for name in sorted(old | new):
        if old.get(name) == new.get(name):
            lines.append(f"{name}=={old[name]}")
            continue
        if name in old:
            lines.append(f'{name}=={old[name]}; python_version < "{boundary}"')
        if name in new:
            lines.append(f'{name}=={new[name]}; python_version >= "{boundary}"')
    return lines


def main() -> None:
    """Resolve for both Pythons and write the lock."""
    newer, oldest = sys.argv[1:]
    if version_of(oldest) == version_of(newer):
        sys.exit(f"{oldest} and {newer} are the same Python {version_of(newer)}; the lock needs two.")
    lines = merge(resolve(oldest), resolve(newer), "3.12")
    (ROOT / "requirements.lock").write_text(HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
