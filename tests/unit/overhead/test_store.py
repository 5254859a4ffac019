"""Where constants are kept, and what is believed of a file."""

import json

import pytest

from rlscope_jax.errors import RlscopeError
from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.overhead.store import measuring, read, save, store_path

COST = Constant(100.0, 90.0, 120.0)
CONSTANTS = Constants(Constant(3.0, 2.8, 3.2), 15.0, COST, COST, COST, COST, COST, COST)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return store_path("vm", "0.10.2", "cpu")


def test_what_is_saved_is_read_again(path):
    save(path, CONSTANTS, "2026-11-30T10:00:00+00:00")
    assert read(path) == CONSTANTS
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_namesake_of_the_machine_has_others(path):
    save(path, CONSTANTS, "now")
    written = json.loads(path.read_text())["processor"]
    assert read(path, written) == CONSTANTS
    assert read(path, "another processor x64") is None
    assert read(path, ["no name"]) is None


def test_every_machine_jaxlib_and_backend_has_its_own(path):
    others = [("vm2", "0.10.2", "cpu"), ("vm", "0.11", "cpu"), ("vm", "0.10.2", "gpu"), ("../vm", None, None)]
    paths = {store_path(*key) for key in others} | {path}
    assert len(paths) == 5
    assert {each.parent for each in paths} == {path.parent}


def test_nothing_stored_is_none(path):
    assert read(path) is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.pop("schema"),
        lambda content: content.update(processor="another"),
        lambda content: content["constants"].pop("step"),
        lambda content: content["constants"].update(op_floor="much"),
        lambda content: content["constants"]["tail_ratio"].update(low=9.0),
        lambda content: content["constants"]["tail_ratio"].update(high=float("nan")),
        lambda content: content["constants"]["tail_ratio"].update(value=True),
        lambda content: content["constants"]["step"].update(value="100"),
        lambda content: content["constants"]["wait"].update(value=1e300, high=1e300),
        lambda content: content["constants"]["wait"].update(value=1e-300, low=0),
        lambda content: content["constants"]["wait"].update(high=10**400),
        lambda content: content["constants"].update(op_floor=float("nan")),
        lambda content: content["constants"].update(op_floor=-1.0),
        lambda content: content["constants"].update(op_floor=10**400),
        lambda content: content.update(constants=[1, 2]),
    ],
)
def test_a_file_that_cannot_be_believed_is_none(path, spoil):
    save(path, CONSTANTS, "now")
    content = json.loads(path.read_text())
    spoil(content)
    path.write_text(json.dumps(content))
    assert read(path) is None


def test_a_torn_file_is_none(path):
    save(path, CONSTANTS, "now")
    path.write_text(path.read_text()[:40])
    assert read(path) is None


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", '"constants"', "null", "\udcff"])
def test_a_file_of_another_kind_is_none(path, content):
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode(errors="surrogateescape"))
    assert read(path) is None


def test_a_folder_in_its_place_is_none_and_leaves_nothing_behind(path):
    path.mkdir(parents=True)
    assert read(path) is None
    with pytest.raises(OSError, match="irectory"):
        save(path, CONSTANTS, "now")
    assert list(path.parent.iterdir()) == [path]


def test_one_measures_at_a_time(path):
    with measuring(path), pytest.raises(RlscopeError, match="another"), measuring(path):
        pass
    with measuring(path):
        pass


def test_where_nothing_can_be_stored_nothing_is_measured(path):
    path.mkdir(parents=True)
    with pytest.raises(OSError, match="directory"), measuring(path):
        pass
