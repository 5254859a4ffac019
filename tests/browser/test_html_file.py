"""The page that `rlscope-jax report --html` writes, opened from the disk."""

import pytest

from browser.board import HOSTILE, write_hostile
from rlscope_jax import load
from rlscope_jax.reporters import searches
from rlscope_jax.reporters.html import to_page
from rlscope_jax.tune.database import Database
from rlscope_jax.tune.searches import tuning_of
from tuning_record import write_record
from xspace_builder import US, CpuTrace, Op, module_of

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


@pytest.fixture
def corrected(watched, tmp_path):
    """A page whose figures have corrections: half of what was recorded, give or take a tenth."""
    return open_corrected(watched, tmp_path, tenths=1)


def open_corrected(watched, tmp_path, tenths):
    """The same, give or take some tenths."""
    write_hostile(tmp_path / "run")
    report = load(tmp_path / "run")
    plain = report.to_dict()

    def halved(value):
        if isinstance(value, list):
            return [halved(each) for each in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"raw", "corrected", "interval"} and value["raw"] is not None:
            half = value["raw"] // 2
            interval = [max(half * (10 - tenths) // 10, 0), half * (10 + tenths) // 10]
            return {**value, "corrected": half, "interval": interval}
        return {key: halved(each) for key, each in value.items()}

    data = halved(plain)
    data["overhead"] = {
        "correction": "calibrated",
        "inflation": 2.0,
        "removed": {"ns": 1_000_000, "interval": [900_000, 1_100_000]},
        "constants": {"tail_ratio": {"value": 1.9, "low": 1.6, "high": 2.2}, "op_floor": 120.0},
        "anchors": None,
    }
    data["findings"] = [
        {
            "code": "recompiles",
            "severity": "high",
            "operation": "update",
            "message": f"f was compiled 8 times {HOSTILE[0]}",
            "hint": "Pad the batch to one shape.",
            "evidence": {"compiles": 8, "compile_ns": 52_000_000},
            "gain_ns": 52_000_000,
        }
    ]
    report.to_dict = lambda: data
    path = tmp_path / "report.html"
    path.write_text(to_page(report), "utf-8")
    watched.page.goto(path.as_uri())
    watched.page.locator(".tile").first.wait_for()
    return watched.page, data


def test_raw_and_corrected_figures_change_places(corrected):
    page, data = corrected
    idle = page.locator("[data-figure=idle]")
    assert int(idle.get_attribute("data-ns")) == data["totals"]["idle"]["corrected"]
    assert page.locator(".whisker").count() > 0
    page.get_by_role("button", name="Raw", exact=True).click()
    assert int(idle.get_attribute("data-ns")) == data["totals"]["idle"]["raw"]
    assert page.locator(".whisker").count() == 0
    assert "figures=raw" in page.url


def test_what_is_not_resolved_has_no_figure(watched, tmp_path):
    page, _ = open_corrected(watched, tmp_path, tenths=15)
    bars = page.locator(".bars tbody tr").all_inner_texts()
    assert bars
    for bar in bars:
        assert "not resolved" in bar
        assert "%" not in bar
    page.get_by_role("button", name="Operations", exact=True).click()
    times = page.locator(".tree tbody td[data-figure=wall]")
    assert set(times.all_inner_texts()) <= {"?", "·"}
    assert "not resolved" in times.locator("span", has_text="?").first.get_attribute("title")
    page.get_by_role("button", name="Raw", exact=True).click()
    assert "?" not in times.all_inner_texts()


def test_findings_say_what_to_do_and_by_what_evidence(corrected):
    page, _ = corrected
    (finding,) = page.locator(".findings li").all()
    words = finding.inner_text()
    for expected in (
        HOSTILE[0],
        "Pad the batch",
        "compiles: 8",
        "compile: 52.0 ms",
        "at most 52.0 ms to gain",
    ):
        assert expected in words
    assert page.evaluate("() => window.hacked") is None


def test_overhead_says_what_was_removed_where(corrected):
    page, data = corrected
    page.get_by_role("button", name="Overhead", exact=True).click()
    words = page.locator(".overhead").inner_text()
    for expected in (
        "2.00 ×",
        "1.00 ms",
        "0.90 to 1.10 ms",
        "tail ratio",
        "1.60 to 2.20",
        "op floor",
        "120 ns",
    ):
        assert expected in words
    rows = page.locator(".overhead tbody tr th").all_inner_texts()
    assert {row["path"] for row in data["operations"] if row["wall"]["device_only"]["raw"]} <= set(rows)


def many_operations(folder):
    """A recording of 3,000 operations, each of two, and names as long as names get."""
    trace = CpuTrace()
    tree = [Op(f"dot.{number}", US) for number in range(3000)]
    names = {op.name: f"jit(f)/rls=op{n % 1500}/rls=in{n}/dot" for n, op in enumerate(tree)}
    tree += [Op("endless" * 1000, 3000 * US)]
    names["endless" * 1000] = f"jit(f)/rls={'verylong' * 400}/dot"
    trace.run(module_of("jit_f", 7, tree, names), tree, at=10 * US)
    trace.write(folder, "s")
    return load(folder)


def test_thousands_of_operations_are_shown_in_part(watched, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(to_page(many_operations(tmp_path / "run")), "utf-8")
    page = watched.page
    page.goto(path.as_uri())
    page.locator(".tile").first.wait_for()
    page.get_by_role("button", name="Operations", exact=True).click()
    rows = page.locator(".tree tbody tr")
    assert rows.count() == 300
    page.get_by_role("button", name="Show more").click()
    assert rows.count() == 600
    page.get_by_label("Filter operations by name").fill("in2999")
    assert rows.count() == 2
    assert "each too narrow to show" in page.locator(".icicle .few").first.get_attribute("title")
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.locator("canvas").wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_every_view_can_be_reached_with_the_keyboard(opened):
    opened.locator("body").click(position={"x": 2, "y": 2})
    reached = []
    for _ in range(12):
        opened.keyboard.press("Tab")
        name = opened.evaluate("() => document.activeElement.textContent")
        if name in VIEWS and name not in reached:
            reached.append(name)
            opened.keyboard.press("Enter")
            assert opened.locator("nav [aria-current=page]").inner_text() == name
    assert set(reached) == set(VIEWS)


@pytest.mark.parametrize(
    ("tasks", "algorithms"), [(1, ("evolutionary",)), (10, ("random", "evolutionary", "tpe", "harl"))]
)
def test_searches_alone_are_a_page_of_one_view(watched, tmp_path, tasks, algorithms):
    write_record(tmp_path / "r", tasks, algorithms, HOSTILE[0])
    path = tmp_path / "tuning.html"
    path.write_text(searches.to_page(tuning_of(Database(tmp_path / "r").rows()), "r"), "utf-8")
    page = watched.page
    page.goto(path.as_uri())
    page.locator(".charts svg").first.wait_for()
    assert page.locator("nav button").all_inner_texts() == ["Tuning"]
    assert page.locator(".tasks tbody tr").count() == (tasks if tasks > 1 else 0)
    assert page.locator(".searches tbody tr").count() == len(algorithms)
    assert page.locator(".charts figure").count() == len(algorithms)
    assert HOSTILE[0] in page.locator("main").inner_text()
    page.locator(".chart").first.hover()
    page.get_by_text("after 12 trials").wait_for()  # half of 24
    page.locator(".charts .chart").first.hover()
    page.get_by_text("up to trial 16").wait_for()  # the second round of three
    assert page.evaluate("() => window.hacked") is None
    assert page.evaluate("() => document.querySelectorAll('#rlscope img, #rlscope script').length") == 0
    for width in (390, 2560):
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(100)
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
        assert page.locator(".chart svg").first.bounding_box()["width"] <= width
