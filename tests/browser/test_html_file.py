"""The page that `rlscope-jax report --html` writes, opened from the disk."""

import pytest

from browser.board import write_hostile
from rlscope_jax import load
from rlscope_jax.reporters.html import to_page

VIEWS = ("Operations", "Timeline", "Programs", "Overhead", "Overview")


@pytest.fixture
def opened(watched, tmp_path):
    """A page of hostile names, written and opened."""
    write_hostile(tmp_path / "run")
    path = tmp_path / "report.html"
    path.write_text(to_page(load(tmp_path / "run")), "utf-8")
    watched.page.goto(path.as_uri())
    watched.page.locator(".tile").first.wait_for()
    return watched.page


def test_every_view_works_from_a_file_and_names_stay_text(opened):
    for view in VIEWS:
        opened.get_by_role("button", name=view, exact=True).click()
        opened.locator("h2").first.wait_for()
        assert opened.evaluate("() => window.hacked") is None
        assert opened.evaluate("() => document.querySelectorAll('#rlscope img, #rlscope script').length") == 0
    assert opened.evaluate("() => performance.getEntriesByType('resource').length") == 0


def test_its_state_is_in_its_address(opened):
    opened.get_by_role("button", name="Operations", exact=True).click()
    opened.locator(".tree tbody tr").first.click()
    opened.locator(".details").wait_for()
    address = opened.url
    opened.goto("about:blank")
    opened.goto(address)
    opened.locator(".details").wait_for()
