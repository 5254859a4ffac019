"""What every test may ask for: the real profiles beside the checkout, and skips that say why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent
GPU_DEVICES = (Path("/dev/nvidia0"), Path("/dev/kfd"))

# Shared cores make single examples slow at random, so no deadline; CI draws the same examples every time.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded profiles beside the checkout (see its README); read it, never write to it."""
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"no recorded profiles: {folder} does not exist")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _no_calibration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests see no constants of the machine they run on; whoever wants some stores them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip `@pytest.mark.gpu` tests where there is no GPU."""
    if item.get_closest_marker("gpu") and not any(device.exists() for device in GPU_DEVICES):
        pytest.skip("no GPU on this machine")
