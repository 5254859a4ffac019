"""A short campaign, a longer one with the recorded profiles, and the inputs that once broke the reader."""

from random import Random

import pytest

from fuzz import corpus, mutate
from fuzz.messages import join, split
from fuzz.mutations import MUTATIONS
from fuzz.reader import Reader, Verdict
from fuzz.shrink import shrink

MET = {
    "a stream that begins after the end of time": (
        "0a34120d2f6465766963653a4750553a371a0f220b108080808080808080800122002a121210120e"
        "636f7272656c6174696f6e5f6964"
    ),
    "a stream without correlation ids": ("0a15120d2f6465766963653a4750553a341a0422002200"),
    "a statistic that is cut": (
        "0a0b12092f686f73743a4350550a2012105461736b20456e7669726f6e6d656e74320c090118fe81b0cebf83adf618"
    ),
    "a time base beyond every number": ("0a1812092f686f73743a4350551a0b1880808080808080808001"),
    "a string where a number should stand": (
        "0a0b12092f686f73743a4350550a1e12105461736b20456e7669726f6e6d656e74320a10eec2eda5ac84adf618"
    ),
    "ops whose events have no name": (
        "0a4412092f686f73743a4350551a1c22020801220622040803380d22062204080338105a06707974"
        "686f6e220b080112071205747261696e2a0c080312081206686c6f5f6f70"
    ),
}
"""The smallest inputs of bugs found by this target, as `fuzz.shrink` left them."""


@pytest.fixture(scope="module")
def reader():
    with Reader() as reader:
        yield reader


def test_every_sound_file_is_reported(reader):
    for name, content in corpus.built().items():
        assert reader.judge(content).outcome == "reported", name


def test_two_hundred_spoilt_files():
    campaign = mutate.run(corpus.built(), 1, range(200))
    assert not campaign.bugs, campaign.summary()
    # A campaign that only breaks files, or breaks none, finds nothing.
    assert min(campaign.outcomes["refused"], campaign.outcomes["reported"]) > 40


@pytest.mark.slow
def test_two_thousand_spoilt_files_recorded_ones_too():
    campaign = mutate.run(corpus.built() | corpus.recorded(), 2, range(2000))
    assert not campaign.bugs, campaign.summary()


@pytest.mark.parametrize("content", MET.values(), ids=MET.keys())
def test_what_once_broke_us(reader, content):
    assert reader.judge(bytes.fromhex(content)).outcome in ("refused", "reported")


def test_inputs_depend_on_seed_and_number_alone():
    files = corpus.built()
    first = dict(mutate.inputs(files, 5, range(20)))
    assert dict(mutate.inputs(files, 5, range(10, 20))).items() <= first.items()
    assert dict(mutate.inputs(files, 6, range(20))) != first


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_every_mutation_changes_files(mutation):
    chance, files = Random(3), list(corpus.built().values())
    changed = [mutation(content, files[0], chance) != content for content in files * 10]
    assert sum(changed) > len(changed) // 2


def test_messages_are_put_together_as_they_were():
    for content in corpus.built().values():
        assert join(split(content) or []) == content


def test_a_reader_that_takes_too_long_is_told_and_replaced():
    content = corpus.built()["cpu"]
    with Reader(seconds=0.001) as hurried:
        for _ in range(2):
            verdict = hurried.judge(content)
            assert verdict.outcome == "bug"
            assert verdict.where.startswith("hang at ")
            assert "Timeout" in verdict.detail


def test_bugs_are_counted_by_place_and_the_first_input_is_kept(tmp_path, monkeypatch):
    verdicts = iter(
        [Verdict("refused"), Verdict("bug", "here"), Verdict("bug", "there"), Verdict("bug", "here")]
    )
    monkeypatch.setattr(Reader, "judge", lambda self, content: next(verdicts))
    campaign = mutate.run(corpus.built(), 1, range(4), tmp_path)
    assert campaign.bugs == {"here": [1, 3], "there": [2]}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1-1.xplane.pb", "1-2.xplane.pb"]
    assert "4 inputs" in campaign.summary()


def test_shrinking_leaves_what_fails():
    small = shrink(
        corpus.built()["cpu"], lambda content: b"sort.11" in content and split(content) is not None
    )
    assert b"sort.11" in small
    assert len(small) < 40
