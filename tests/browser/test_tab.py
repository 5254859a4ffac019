"""The tab in a real TensorBoard, in a real Chromium: its figures are the report's, and it does no harm."""

import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from browser.board import HOSTILE, start_board, stop_board
from rlscope_jax import load
from rlscope_jax.tune.database import Database
from rlscope_jax.tune.searches import RECORD_NAME, tuning_of
from xspace_builder import US, CpuTrace, Op, module_of

AXE = Path(__file__).parents[2] / "rlscope_jax/tb_plugin/frontend/node_modules/axe-core/axe.min.js"
VIEWS = ("overview", "operations", "timeline", "programs", "overhead", "tuning")
DRAWN = {
    "overview": ".bars tbody tr",
    "operations": ".tree tbody tr",
    "timeline": "canvas",
    "programs": ".programs tbody tr",
    "overhead": ".overhead h2",
    "tuning": ".charts svg",
}
COLORS_DRAWN = """() => {
  const canvas = document.querySelector('canvas');
  const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const dots = new Uint32Array(image.data.buffer);
  return new Set(dots.filter(dot => dot >>> 24 === 255)).size;
}"""


@pytest.fixture(scope="module")
def report(logdir):
    return load(logdir / "ppo").to_dict()


def opened(watched, board, view="overview", run="ppo", shell=False, **state):
    """Our page at a view: as TensorBoard's frame loads it, or (slower) within all of TensorBoard."""
    watched.page.goto(board.tab(run, "s", shell=shell, view=view, **state))
    tab = watched.tab if shell else watched.page
    tab.locator(DRAWN[view]).first.wait_for(timeout=60_000)
    return tab


@contextmanager
def another_board(watched, *arguments, **options):
    """A TensorBoard for one test; when it ends the page leaves, else it would ask one that is gone."""
    board = start_board(*arguments, **options)
    try:
        yield board
    finally:
        watched.page.goto("about:blank")
        stop_board(board)


def each_view(page):
    """Go through the views of an open page."""
    for view in VIEWS:
        page.get_by_role("button", name=view.capitalize(), exact=True).click()
        page.locator(DRAWN[view]).first.wait_for(timeout=60_000)
        if view == "operations":
            page.locator(".tree tbody tr").nth(1).click()
            page.locator(".details").wait_for()
        page.wait_for_timeout(250)
        yield view


def figures(rows, attribute):
    """Path -> the number that its row states."""
    paths = ((row, row.get_attribute("data-path")) for row in rows.all())
    return {path: int(row.get_attribute(attribute)) for row, path in paths if path}


def wall_of(rows):
    return sum(
        row["wall"][cell]["raw"] for row in rows for cell in ("device_only", "overlap", "host_only", "idle")
    )


def test_the_tab_appears(watched, board):
    watched.page.goto(board.url)
    watched.page.get_by_role("tab", name="RL-Scope").wait_for(timeout=60_000)
    assert board.url.startswith("http://localhost")


def test_the_overview_shows_the_figures_of_the_report(watched, board, report):
    tab = opened(watched, board)
    totals = report["totals"]
    for name in ("device_busy", "host_only", "overlap", "idle"):
        tile = tab.locator(f"[data-figure={name}]")
        assert int(tile.get_attribute("data-ns")) == totals[name]["raw"]
        share = 100 * totals[name]["raw"] / totals["wall"]["raw"]
        shown = tile.locator(".main").inner_text()
        assert shown == ("<0.1 %" if 0 < share < 0.05 else f"{share:.1f} %")
    bars = tab.locator(".bars tbody tr")
    shown = figures(bars, "data-ns")
    assert sum(int(row.get_attribute("data-ns")) for row in bars.all()) == wall_of(report["operations"])
    for path, wall in shown.items():
        assert wall == wall_of(row for row in report["operations"] if row["path"] == path)
    for problem in report["health"]["problems"]:
        assert tab.get_by_text(problem["message"]).count() == 1
    assert tab.locator(".findings li").count() == len(report["findings"])


def test_the_tree_shows_the_figures_of_the_report(watched, board, report):
    tab = opened(watched, board, "operations")
    rows = tab.locator(".tree tbody tr").all()
    shown = {row.get_attribute("data-path"): row for row in rows}
    assert set(shown) >= {row["path"] for row in report["operations"] if row["device"]["self"]["raw"]}
    for path, row in shown.items():
        of = [one for one in report["operations"] if one["path"] == path]
        cells = {cell.get_attribute("data-figure"): cell for cell in row.locator("[data-figure]").all()}
        value = {name: int(float(cell.get_attribute("data-value"))) for name, cell in cells.items()}
        assert value["wall"] == wall_of(of)
        assert value["device"] == sum(one["device"]["self"]["raw"] or 0 for one in of)
        assert value["dispatches"] == sum(one["host"]["dispatches"] for one in of)
        below = [
            one for one in report["operations"] if one["path"] == path or one["path"].startswith(path + "/")
        ]
        assert value["wallTotal"] == wall_of(below)


def test_the_programs_are_those_of_the_report(watched, board, report):
    tab = opened(watched, board, "programs")
    shown = {int(row.get_attribute("data-program")): row for row in tab.locator(".programs tbody tr").all()}
    assert set(shown) == {program["program_id"] for program in report["programs"]}
    for program in report["programs"]:
        cell = shown[program["program_id"]].locator("[data-figure=device]")
        assert int(cell.get_attribute("data-value")) == program["device"]["raw"]


def test_the_searches_are_those_of_the_record(watched, board):
    told = tuning_of(Database(board.logdir / "ppo" / RECORD_NAME).rows())
    page = opened(watched, board, "tuning")
    for task in told["tasks"]:
        page.locator(".tasks").get_by_role("button", name=task["name"]).click()
        page.get_by_role("heading", name=task["name"], exact=True).wait_for()
        rows = page.locator(".searches tbody tr")
        assert [row.get_attribute("data-search") for row in rows.all()] == ["random", "harl"]
        for row, one in zip(rows.all(), task["searches"], strict=True):
            seconds = one["best"][-1][1]
            assert row.locator("td").all_inner_texts()[2:] == [
                f"{seconds * 1e3:.2f} ms",
                f"{task['reference_seconds'] / seconds:.2f} ×",
                str(one["best"][-1][0]),
            ]
        assert page.locator("[data-figure=winner] .main").inner_text() == "2.00 × as fast"
        saves = page.locator("[data-figure=saving] .main").inner_text()
        assert saves.endswith(" ms")
        assert float(saves.removesuffix(" ms")) == pytest.approx(task["saving"][0] * 1e3)
        values = dict(
            row.locator("th, td").all_inner_texts() for row in page.locator(".values tbody tr").all()
        )
        assert values == {name: str(value) for name, value in task["winner"]["values"].items()}
    assert f"p.rlscope.task={told['tasks'][-1]['name']}" in page.url


def test_a_row_leads_to_its_ops_and_source_lines(watched, board):
    tab = opened(watched, board, "operations", shell=True, sort="device")
    tab.locator(".tree tbody tr", has=tab.locator("[data-figure=device]:not([data-value='0'])")).first.click()
    tab.locator(".details .ops tbody tr").first.wait_for()
    assert tab.locator(".details .source").first.inner_text().split()[0].rpartition(":")[2].isdigit()
    assert "p.rlscope.operation=" in watched.page.url


def test_the_table_works_with_the_keyboard(watched, board):
    tab = opened(watched, board, "operations")
    rows = tab.locator(".tree tbody tr")
    rows.first.focus()
    watched.page.keyboard.press("ArrowDown")
    assert rows.nth(1).evaluate("row => row === document.activeElement")
    watched.page.keyboard.press("Enter")
    assert rows.nth(1).get_attribute("aria-selected") == "true"
    before = rows.count()
    parent = tab.locator("tr[aria-expanded=true]").first
    parent.focus()
    watched.page.keyboard.press("ArrowLeft")
    assert rows.count() < before
    watched.page.keyboard.press("ArrowRight")
    assert rows.count() == before


def test_a_filter_and_a_sort_stay_in_the_address(watched, board, chromium):
    tab = opened(watched, board, "operations", shell=True)
    name = tab.locator(".tree tbody tr").first.get_attribute("data-path")
    tab.get_by_role("searchbox").fill(name)
    tab.get_by_role("button", name="device self").click()
    tab.locator("[aria-sort=descending]").get_by_text("device self").wait_for()
    shown = [row.get_attribute("data-path") for row in tab.locator(".tree tbody tr").all()]
    other = chromium.new_page()
    other.goto(watched.page.url)
    again = other.frame_locator("iframe")
    again.locator(".tree tbody tr").first.wait_for(timeout=60_000)
    assert [row.get_attribute("data-path") for row in again.locator(".tree tbody tr").all()] == shown
    other.close()


def test_the_timeline_zooms_moves_and_finds(watched, board, report):
    tab = opened(watched, board, "timeline")
    wall = report["window"]["wall_ns"]

    def span():
        words = watched.page.url
        return [float(words.split(f"p.rlscope.{end}=")[1].split("&")[0]) for end in ("begin", "end")]

    tab.get_by_role("button", name="Zoom in").click()
    watched.page.wait_for_url("**p.rlscope.begin**")
    assert span() == pytest.approx([wall / 4, 3 * wall / 4], rel=1e-3)
    tab.locator("canvas").focus()
    watched.page.keyboard.press("ArrowRight")
    watched.page.wait_for_timeout(200)
    assert span() == pytest.approx([0.35 * wall, 0.85 * wall], rel=1e-3)
    heaviest = max(
        (row for row in report["operations"] if row["device"]["ops"]), key=lambda row: row["device"]["ops"]
    )
    tab.get_by_label("Find an operation or op").fill(heaviest["path"])
    tab.get_by_role("button", name="Find next").click()
    watched.page.wait_for_timeout(800)
    begin, end = span()
    assert end - begin < 0.5 * wall
    tab.get_by_role("button", name="All").click()
    watched.page.wait_for_timeout(200)
    assert "begin" not in watched.page.url
    assert tab.evaluate(COLORS_DRAWN) > 4


def test_light_and_dark_follow_tensorboard(watched, board):
    tab = opened(watched, board, shell=True)

    def background():
        return watched.frame().evaluate("() => getComputedStyle(document.body).backgroundColor")

    assert background() == "rgb(255, 255, 255)"
    watched.page.evaluate("() => document.body.classList.add('dark-mode')")
    tab.locator("html.dark").wait_for(state="attached")
    assert background() != "rgb(255, 255, 255)"


def test_tensorboards_reload_reaches_the_tab(watched, board):
    opened(watched, board, shell=True)
    with watched.page.expect_request(lambda request: "recordings?refresh" in request.url):
        watched.page.evaluate("() => document.querySelector('iframe').reload()")


def test_a_damaged_recording_says_so_and_another_can_be_chosen(watched, board):
    watched.page.goto(board.tab("bad", "s"))
    watched.page.get_by_text("is no XLA profile").wait_for(timeout=60_000)
    watched.page.get_by_label("Recording").select_option(label="ppo · s")
    watched.page.locator(".tile").first.wait_for(timeout=60_000)


def test_hostile_names_stay_text(watched, board):
    page = opened(watched, board, run="hostile")
    assert any(
        HOSTILE[0] in name for name in page.get_by_label("Recording").locator("option").all_inner_texts()
    )
    for view in each_view(page):
        assert page.evaluate("() => window.hacked") is None
        assert page.evaluate("() => document.querySelectorAll('#rlscope img, #rlscope script').length") == 0
        if view == "operations":
            assert HOSTILE[0] in page.locator(".tree").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(watched, board, theme):
    if not AXE.is_file():
        pytest.skip(f"axe-core is not installed: npm ci in {AXE.parents[2]}")
    watched.page.emulate_media(color_scheme=theme)
    page = opened(watched, board)
    page.evaluate(AXE.read_text())  # by the debugger: the page's own policy lets no such script in
    for view in each_view(page):
        found = page.evaluate(
            "async () => (await axe.run('#rlscope')).violations"
            ".map(one => [one.id, one.nodes.map(node => node.html)])"
        )
        assert found == [], view


@pytest.mark.parametrize("width", [900, 2560])
def test_no_width_hides_a_part_of_the_page(watched, board, width):
    watched.page.set_viewport_size({"width": width, "height": 1000})
    page = opened(watched, board)
    for view in each_view(page):
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"), view


def test_without_recordings_it_says_where_it_looked(watched, tmp_path, shared):
    (tmp_path / "runs").mkdir()
    with another_board(watched, tmp_path / "runs", tmp_path / "log") as board:
        watched.page.goto(board.url + "data/plugin_entry.html?name=rlscope")
        watched.page.get_by_text("No recording was found").wait_for(timeout=60_000)
        words = watched.page.locator("main").inner_text()
        assert str(tmp_path / "runs") in words
        assert "rlscope_jax.profile" in words
        source = Path(tmp_path / "runs/plugins/profile/s")
        source.mkdir(parents=True)
        shutil.copy(next((shared / "traces/cpu_ours").glob("*0.10.2*loop*")), source / "vm.xplane.pb")
        deadline = time.monotonic() + 60
        while watched.page.locator(".tile").count() == 0 and time.monotonic() < deadline:
            with suppress(Exception):  # the button goes when something was found
                watched.page.get_by_role("button", name="Look again").click(timeout=1000)
            watched.page.wait_for_timeout(500)
        assert watched.page.locator(".tile").count() == 6
        watched.page.get_by_role("button", name="Tuning", exact=True).click()
        assert f"--from {tmp_path / 'runs'}\n" in watched.page.locator("main pre").inner_text() + "\n"


@pytest.mark.parametrize(
    ("options", "path", "run"),
    [
        (["--load_fast=false"], "/", "ppo"),
        (["--path_prefix=/some/where"], "/some/where/", "ppo"),
        (["--logdir_spec=first:{logdir}/ppo,second:{logdir}/bad"], "/", "first"),
    ],
    ids=["slow-loader", "path-prefix", "logdir-spec"],
)
def test_however_tensorboard_is_started(watched, logdir, tmp_path, options, path, run):
    with another_board(
        watched, logdir, tmp_path / "log", *(option.format(logdir=logdir) for option in options), path=path
    ) as board:
        opened(watched, board, run=run, shell=True)


def write_module(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(text)


def test_a_broken_numba_costs_only_the_report(watched, tmp_path, shared):
    """TensorBoard starts, its own tabs work, and our tab says what is wrong."""
    write_module(tmp_path / "broken", "numba", "raise ImportError('numba needs another numpy')")
    run = tmp_path / "runs/plugins/profile/s"
    run.mkdir(parents=True)
    shutil.copy(next((shared / "traces/cpu_ours").glob("*0.10.2*loop*")), run / "vm.xplane.pb")
    with another_board(
        watched, tmp_path / "runs", tmp_path / "log", PYTHONPATH=str(tmp_path / "broken")
    ) as board:
        plugins = json.loads(board.get("data/plugins_listing"))
        assert plugins["rlscope"]["enabled"]
        assert "scalars" in plugins or "timeseries" in plugins
        watched.page.goto(board.tab(".", "s"))
        watched.page.get_by_text("numba needs another numpy").wait_for(timeout=60_000)


def write_other_plugin(folder, loader):
    """A package `xprof` whose entry point is this."""
    write_module(folder / "xprof", "__init__", "")
    write_module(folder / "xprof", "profile_plugin_loader", loader)
    described = folder / "xprof-9.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: xprof\nVersion: 9\n")
    (described / "entry_points.txt").write_text(
        "[tensorboard_plugins]\nprofile = xprof.profile_plugin_loader:Loader\n"
    )


LOADER = """
from tensorboard.plugins import base_plugin

class Plugin(base_plugin.TBPlugin):
    plugin_name = "profile"
    def get_plugin_apps(self): return {}
    def is_active(self): raise RuntimeError("xprof is broken")

class Loader(base_plugin.TBLoader):
    def load(self, context): BODY
"""


@pytest.mark.parametrize(
    "body", ["raise RuntimeError('xprof is broken')", "return None", "return Plugin(context)"]
)
def test_a_broken_xprof_costs_only_itself(watched, logdir, tmp_path, body):
    write_other_plugin(tmp_path / "broken", LOADER.replace("BODY", body))
    with another_board(watched, logdir, tmp_path / "log", PYTHONPATH=str(tmp_path / "broken")) as board:
        opened(watched, board)
        assert watched.page.get_by_role("link", name="Trace viewer").count() == 0
        plugins = json.loads(board.get("data/plugins_listing"))
        assert plugins["rlscope"]["enabled"]
        assert "timeseries" in plugins


# As root, to whom no file is closed: so that what is closed to a user is closed to TensorBoard.
_RIGHTS = "-dac_override,-dac_read_search"
AS_USER = ("setpriv", f"--bounding-set={_RIGHTS}", f"--inh-caps={_RIGHTS}") if os.geteuid() == 0 else ()


def test_a_run_that_may_not_be_read_costs_only_itself(watched, tmp_path, shared):
    """And one that may be read only is shown, its results kept elsewhere."""
    runs = tmp_path / "runs"
    for run in ("good", "locked"):
        profile = runs / run / "plugins/profile/s/vm.xplane.pb"
        profile.parent.mkdir(parents=True)
        shutil.copy(next((shared / "traces/cpu_ours").glob("*0.10.2*loop*")), profile)
    if AS_USER and (
        not shutil.which("setpriv")
        or subprocess.run([*AS_USER, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("root cannot give up its rights here: no setpriv that can")
    (runs / "good/plugins").chmod(0o555)
    (runs / "locked").chmod(0)
    try:
        with another_board(watched, runs, tmp_path / "log", prefix=AS_USER) as board:
            opened(watched, board, run="good")
            listed = json.loads(board.get("data/plugin/rlscope/recordings"))
            assert [one["run"] for one in listed["recordings"]] == ["good"]
            assert [one["reason"] for one in listed["unreadable"]] == ["Permission denied"]
            assert not (runs / "good/plugins/rlscope").exists()
    finally:
        (runs / "good/plugins").chmod(0o755)
        (runs / "locked").chmod(0o755)


def write_windows(logdir):
    """A run recorded in two windows; of the second, twice as much."""
    for number in range(2):
        trace, tree = CpuTrace(), [Op("dot.1", (number + 1) * 100 * US)]
        trace.run(module_of("jit_f", 7, tree, {"dot.1": "jit(f)/rls=update/dot"}), tree, at=10 * US)
        os.utime(trace.write(logdir, f"w{number}"), (1000 + number, 1000 + number))
        sidecar = logdir / f"plugins/rlscope/w{number}.json"
        sidecar.parent.mkdir(parents=True, exist_ok=True)
        times = {"start_unix_ns": 10**18 + number * 10**9, "stop_unix_ns": 10**18 + number * 10**9 + 10**6}
        sidecar.write_text(json.dumps({"part_of": "run", "window": times}))


def test_every_window_of_a_run_can_be_seen(watched, tmp_path):
    write_windows(tmp_path / "runs/a")
    with another_board(watched, tmp_path / "runs", tmp_path / "log") as board:
        watched.page.goto(board.tab("a", "run", view="timeline"))
        page = watched.page
        page.locator("canvas").wait_for(timeout=60_000)
        choice = page.locator(".windows select")
        assert choice.locator("option").all_inner_texts()[1].startswith("2 of 2, 1.00 s after the first, ")
        first = page.locator(".range").inner_text()
        page.get_by_role("button", name="Next", exact=True).click()
        page.locator("canvas").wait_for()
        page.wait_for_function("before => document.querySelector('.range').innerText !== before", arg=first)
        assert "p.rlscope.window=1" in page.url
        assert choice.input_value() == "1"
        assert page.get_by_role("button", name="Next", exact=True).is_disabled()
        page.get_by_role("button", name="Overview", exact=True).click()
        assert page.locator("[data-figure=device_busy]").get_attribute("data-ns") == "300000"
        assert "all 2 windows, w0" in page.get_by_label("Recording").locator("option:checked").inner_text()


def test_a_window_recorded_while_it_is_open_shows_up_on_reload(watched, tmp_path):
    write_windows(tmp_path / "runs/a")
    shutil.rmtree(tmp_path / "runs/a/plugins/profile/w1")
    with another_board(watched, tmp_path / "runs", tmp_path / "log") as board:
        opened(watched, board, run="", shell=True)
        write_windows(tmp_path / "runs/a")
        watched.page.evaluate("() => document.querySelector('iframe').reload()")
        choice = watched.tab.get_by_label("Recording").locator("option")
        choice.nth(2).wait_for(state="attached", timeout=60_000)
        assert sorted(choice.all_inner_texts()) == ["a · all 2 windows, w0", "a · w0", "a · w1"]


def test_what_is_chosen_stays_when_something_newer_is_recorded(watched, tmp_path):
    """The newest is shown until something is chosen; then a link to it is a link to it."""
    write_windows(tmp_path / "runs/a")
    shutil.rmtree(tmp_path / "runs/a/plugins/profile/w1")
    with another_board(watched, tmp_path / "runs", tmp_path / "log") as board:
        page = opened(watched, board, run="")
        assert "rlscope.name" not in page.url
        page.get_by_role("button", name="Operations", exact=True).click()
        assert "p.rlscope.run=a&p.rlscope.name=w0" in page.url


def test_a_search_for_nothing_says_so(watched, board):
    tab = opened(watched, board, "timeline")
    tab.get_by_label("Find an operation or op").fill("no such name")
    tab.get_by_role("button", name="Find next").click()
    tab.get_by_text("Nothing here has “no such name” in its name.").wait_for()


def test_a_logdir_of_300_runs_is_listed_at_once_when_warm(tmp_path):
    """No clock: warm answers come from what was found before, without looking at the disk again."""
    for number in range(300):
        path = tmp_path / f"runs/r{number:03}/plugins/profile/s/vm.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
    board = start_board(tmp_path / "runs", tmp_path / "log")
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            listed = json.loads(board.get("data/plugin/rlscope/recordings"))
            if len(listed["recordings"]) == 300:
                break
            time.sleep(0.1)
        assert len(listed["recordings"]) == 300
        assert json.loads(board.get("data/plugins_listing"))["rlscope"]["enabled"]
    finally:
        stop_board(board)
