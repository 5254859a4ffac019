"""A real TensorBoard over recordings, and the system's Chromium; without either the tests skip, saying so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from browser.board import HOSTILE, Board, start_board, stop_board, write_hostile
from rlscope_jax.tune.searches import RECORD_NAME
from tuning_record import write_record

PPO = "jax0.10.2_ppo_loop"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")  # while it is open Playwright keeps an event loop running, which others need
def chromium() -> Iterator[Any]:
    """A browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    binary = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if binary is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page and everything wrong that was seen of it."""

    page: Any
    complaints: list[str] = field(default_factory=list)

    @property
    def tab(self) -> Any:
        """Our page within TensorBoard's."""
        return self.page.frame_locator("iframe")

    def frame(self) -> Any:
        """The same, to run script in."""
        return next(frame for frame in self.page.frames if "plugin_entry.html?name=rlscope" in frame.url)


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    """A page that must end without an error on its console and without a request that leaves the machine."""
    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    one = Watched(page)

    def on_console(message: Any) -> None:
        where = message.location["url"]
        # Not ours: the icon of TensorBoard's frame opened alone; its fonts, which it misses under a prefix.
        others = where.endswith("/favicon.ico") or "/font-roboto/" in where
        if message.type == "error" and not others:
            one.complaints.append(f"console: {message.text} ({where})")

    def on_request(request: Any) -> None:
        if not request.url.startswith(("http://localhost:", "file:", "data:", "blob:")):
            one.complaints.append(f"left the machine: {request.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: one.complaints.append(f"error: {error}"))
    page.on("request", on_request)
    yield one
    page.close()
    assert one.complaints == []


@pytest.fixture(scope="session")
def logdir(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Path:
    """Recordings: a real one and a hostile one, both tuned, and a damaged one."""
    folder = tmp_path_factory.mktemp("logdir")
    real = folder / "ppo/plugins/profile/s"
    real.mkdir(parents=True)
    shutil.copy(shared / f"traces/cpu_ours/{PPO}.xplane.pb", real / "vm.xplane.pb")
    profile = write_hostile(folder / "hostile")
    profile = profile.rename(profile.with_name(f"{HOSTILE[0]}.xplane.pb"))  # the host's name
    again = folder / HOSTILE[0] / "plugins/profile/s/vm.xplane.pb"
    again.parent.mkdir(parents=True)
    shutil.copy(profile, again)
    write_record(folder / "ppo" / RECORD_NAME, tasks=2, algorithms=("random", "harl"))
    write_record(folder / "hostile" / RECORD_NAME, tasks=2, algorithms=("random", "harl"), text=HOSTILE[0])
    bad = folder / "bad/plugins/profile/s/vm.xplane.pb"
    bad.parent.mkdir(parents=True)
    bad.write_bytes(b"\xff" * 64)
    return folder


@pytest.fixture(scope="session")
def board(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    """TensorBoard over these."""
    one = start_board(logdir, tmp_path_factory.mktemp("log") / "tensorboard.log")
    yield one
    stop_board(one)
