"""Every command and every piece of Python shown in the docs runs, page by page, in an empty directory."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SLOW = {"tune.md"}  # searches: a minute
BLOCK = re.compile(r"```(python|bash)\n(.*?)```", re.DOTALL)


def parts():
    """What runs in a directory of its own: a page, or one of the recipes; a name for it and its blocks."""
    for page in PAGES:
        recipes = page.name == "recipes.md"
        for part in page.read_text().split("\n## ") if recipes else [page.read_text()]:
            blocks = BLOCK.findall(part)
            if blocks:
                marks = [pytest.mark.slow] if page.name in SLOW else []
                name = part.splitlines()[0] if recipes else page.name
                yield pytest.param(blocks, id=name, marks=marks)


@pytest.mark.parametrize("blocks", list(parts()))
def test_what_the_page_shows_runs(blocks, tmp_path):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for language, text in blocks:
        named = re.match(r"# (\w+\.py)\n", text)
        if named:  # a file that later commands name
            for package in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE):
                if importlib.util.find_spec(package) is None:
                    pytest.skip(f"{package} is not installed")
            (tmp_path / named[1]).write_text(text)
            continue
        commands = [text] if language == "python" else text.strip().splitlines()
        for command in commands:
            if language == "python":
                run([sys.executable, "-c", command], tmp_path)
            elif command.startswith("make "):
                assert command.split()[1] in targets  # CI runs these from a bare clone
            else:
                program, *arguments = command.split()
                assert program == "rlscope-jax"
                run([sys.executable, "-m", "rlscope_jax", *arguments], tmp_path)


def run(command, directory):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
