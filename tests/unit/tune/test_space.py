"""Points of a space: their meaning, validity, moves and encoding."""

import numpy as np
import pytest

from rlscope_jax.tune import Candidate, Param, Sketch, Space
from rlscope_jax.tune.errors import TuneError


def nothing(values):
    return lambda: None


@pytest.fixture
def space():
    tile = Param("tile", (1, 2, 4, 8), "tile")
    par = Param("par", ("none", "rows", "all"), "par")
    unroll = Param("unroll", (1, 2, 4), "unroll")
    return Space(
        {
            "tiles": Sketch((tile, par, unroll), nothing, lambda v: v["unroll"] <= v["tile"]),
            "plain": Sketch((par, Param("remat", (False, True))), nothing),
        }
    )


def test_every_lists_the_valid_points_once(space):
    points = list(space.every())
    assert len(points) == len(set(points)) == 3 * (1 + 2 + 3 + 3) + 6
    assert sum(point.sketch == "plain" for point in points) == 6
    assert list(space.every("plain")) == [point for point in points if point.sketch == "plain"]


def test_values_and_back(space):
    point = Candidate("tiles", (2, 1, 2))
    assert space.values(point) == {"tile": 4, "par": "rows", "unroll": 4}
    assert space.candidate("tiles", {"unroll": 4, "tile": 4, "par": "rows"}) == point


@pytest.mark.parametrize(
    ("levels", "valid"),
    [((0, 0, 0), True), ((0, 0, 1), False), ((4, 0, 0), False), ((-1, 0, 0), False), ((0, 0), False)],
)
def test_validity(space, levels, valid):
    assert space.is_valid(Candidate("tiles", levels)) is valid


def test_neighbours_are_one_step_away_or_none(space):
    found = space.neighbours(Candidate("tiles", (1, 0, 1)))
    assert found == [
        None,  # tile 1 with unroll 2
        Candidate("tiles", (2, 0, 1)),
        None,
        Candidate("tiles", (1, 1, 1)),
        Candidate("tiles", (1, 0, 0)),
        None,  # unroll 4 with tile 2
    ]


def test_random_moves_stay_inside_and_repeat_with_the_seed(space):
    def walk(seed):
        rng = np.random.default_rng(seed)
        points = [space.sample(rng) for _ in range(50)]
        points += [space.mutate(point, rng) for point in points]
        points += [space.cross(points[0], point, rng) for point in points]
        return points

    assert walk(1) == walk(1) != walk(2)
    assert all(space.is_valid(point) for point in walk(1))
    assert {point.sketch for point in walk(1)} == {"tiles", "plain"}


def test_a_mutation_changes_one_parameter(space):
    rng = np.random.default_rng(0)
    point = Candidate("tiles", (3, 1, 1))
    for _ in range(50):
        other = space.mutate(point, rng)
        assert sum(a != b for a, b in zip(point.levels, other.levels, strict=True)) == 1


def test_a_space_without_valid_points_says_so():
    space = Space({"never": Sketch((Param("a", (1, 2)),), nothing, lambda values: False)})
    with pytest.raises(ValueError, match="10,000 random points of each sketch, and none is valid"):
        space.sample(np.random.default_rng(0))


def test_an_empty_sketch_is_passed_over():
    param = Param("a", (1, 2))
    space = Space(
        {"never": Sketch((param,), nothing, lambda values: False), "both": Sketch((param,), nothing)}
    )
    rng = np.random.default_rng(0)
    assert {space.sample(rng) for _ in range(20)} == set(space.every("both"))
    with pytest.raises(ValueError, match="points of never, and none is valid"):
        space.sample(rng, "never")


def test_the_encoding_tells_points_apart_and_shares_columns(space):
    points = list(space.every())
    codes = space.encode(points)
    assert codes.shape == (len(points), space.features)
    assert codes.dtype == np.float32
    assert len(np.unique(codes, axis=0)) == len(points)
    two, three = space.encode([Candidate("tiles", (0, 2, 0)), Candidate("plain", (2, 0))])
    same = np.flatnonzero((two != 0) & (two == three))  # "par" is "all" in both: its value and its place
    assert len(same) == 2
    assert two[same].tolist() == [1, 1]
    assert space.encode([]).shape == (0, space.features)


def test_within_narrows_domains(space):
    sketch = space.sketches["tiles"].within(tile=(2, 4))
    assert [param.values for param in sketch.params] == [(2, 4), ("none", "rows", "all"), (1, 2, 4)]
    assert sketch.valid is space.sketches["tiles"].valid
    with pytest.raises(ValueError, match="no such parameter: tiles"):
        space.sketches["tiles"].within(tiles=(1,))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Param("a", ()), "none, or not distinct"),
        (lambda: Param("a", (1, 1)), "none, or not distinct"),
        (lambda: Param("a", (1,), "size"), "none of tile, loc, par, unroll, choice"),
        (lambda: Sketch((Param("a", (1,)), Param("a", (2,))), nothing), "share a name: a, a"),
        (lambda: Space({}), "at least one sketch"),
    ],
)
def test_nonsense_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_values_are_what_a_record_can_hold():
    param = Param("tile", (*(2 ** np.arange(3)), np.float32(0.5), np.bool_(False)))
    assert [type(value) for value in param.values] == [int, int, int, float, bool]
    for value in ((8, 128), None, [1]):
        with pytest.raises(ValueError, match="parameter 'tile'"):
            Param("tile", (value,))


def test_a_sketch_may_leave_nothing_open():
    space = Space({"only": Sketch((), nothing)})
    (point,) = space.every()
    rng = np.random.default_rng(0)
    assert space.mutate(point, rng) == space.cross(point, point, rng) == space.sample(rng) == point


def test_a_rule_that_raises_is_told():
    space = Space({"only": Sketch((Param("tile", (1,)),), nothing, lambda values: values["rows"])})
    with pytest.raises(TuneError, match=r"sketch 'only': `valid` raised KeyError for \{'tile': 1\}: 'rows'"):
        list(space.every())
