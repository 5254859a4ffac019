"""Take the pictures of the TensorBoard tab: `python docs/images/screenshots.py LOGDIR` (`make screenshots`).

Each view in light and dark, of the newest recording under LOGDIR, in a real TensorBoard and Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from rlscope_jax import load, sessions

HERE = Path(__file__).parent
VIEWS = {
    "overview": ".bars",
    "operations": ".details .ops tr",
    "timeline": "canvas",
    "programs": ".programs",
    "overhead": ".overhead",
}


def main() -> None:
    """Start TensorBoard, take the pictures, end it."""
    logdir = Path(sys.argv[1]).resolve()
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        sys.exit("no Chromium found; on Debian or Ubuntu: apt install chromium")
    with tempfile.TemporaryFile("w+") as log, sync_playwright() as playwright:
        command = [sys.executable, "-m", "tensorboard.main", "--port=0", f"--logdir={logdir}"]
        board = subprocess.Popen(command, stdout=log, stderr=log, cwd=os.sep)
        try:
            chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            take(chromium, address(board, log.fileno()), logdir)
        finally:
            board.terminate()
            board.wait()


def address(board: subprocess.Popen[bytes], log: int) -> str:
    """Where TensorBoard answers, once it says so."""
    while board.poll() is None:
        said = os.pread(log, 100_000, 0).decode(errors="replace")
        if " at http://" in said:
            return "http://" + said.split(" at http://")[1].split()[0]
        time.sleep(0.2)
    sys.exit("TensorBoard did not start")


def take(chromium: Browser, board: str, logdir: Path) -> None:
    """One picture for each view and theme."""
    session = sessions(logdir)[-1]
    rows = [row for row in load(logdir, session.name).to_dict()["operations"] if row["kind"] != "special"]
    heaviest = max(rows, key=lambda row: row["device"]["self"]["raw"] or 0)["path"]
    run = os.path.relpath(session.logdir, logdir)
    for theme in ("light", "dark"):
        page = chromium.new_page(viewport={"width": 1280, "height": 700}, color_scheme=theme)
        for view, shown in VIEWS.items():
            chosen = f"&p.rlscope.operation=0%7C{heaviest}" if view == "operations" else ""
            state = f"p.rlscope.run={run}&p.rlscope.name={session.name}&p.rlscope.view={view}{chosen}"
            page.goto(f"{board}?darkMode={str(theme == 'dark').lower()}#rlscope&{state}")
            page.reload()
            page.frame_locator("iframe").locator(shown).first.wait_for(timeout=120_000)
            page.wait_for_timeout(1000)  # the timeline's detail arrives, and TensorBoard's bar comes to rest
            page.screenshot(path=HERE / f"tab_{view}_{theme}.png")
        page.close()


if __name__ == "__main__":
    main()
