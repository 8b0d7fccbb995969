from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rank_stories
from glassformer.errors import RankError
from glassformer.ranks import ALONE, Ranks
from glassformer.torchrun import ranks_here
from once import once

LOST = "data.tsv: no such file; check the path, or name a preset (glassformer presets)"


def stories(folder: Path) -> None:
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, rank_stories.__file__, str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert ran.returncode == 0, ran.stderr[-3000:]


def told(name: str) -> Any:
    return json.loads((once("rank-stories", stories) / "found.json").read_text())[name]


@pytest.mark.slow
def test_ranks_tell_each_other() -> None:
    for rank, one in enumerate(told("told")):
        assert one["answer"] == {
            "rank": [rank, 2, rank == 0, True],
            "sum": 21,
            "any": [True, False],
            "gathered": [{"of": 0}, {"of": 1}],
            "first": "rank 0",
            "each": rank * 2,
            "share": 3,
        }


@pytest.mark.slow
def test_long_work_of_the_first_is_waited_for_whatever_the_time_limit() -> None:
    assert told("waited") == [{"answer": {"made": "made", "long": True}}, {"answer": {"made": None, "long": True}}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("story", "lines"),
    [
        ("first_fails", [LOST, None]),
        ("second_fails", [None, f"rank 1 of 2: {LOST}"]),
        ("second_cannot", [None, f"rank 1 of 2: {LOST}"]),
        ("both_find", [LOST, None]),
    ],
)
def test_who_fails_says_why_and_the_others_stop_without_a_word(story: str, lines: list[str | None]) -> None:
    for found, line in zip(told(story), lines, strict=True):
        assert found == {"silent": 1} if line is None else found["line"] == line


@pytest.mark.slow
@pytest.mark.parametrize("story", ["second_is_killed", "second_is_killed_in_a_save"])
def test_a_rank_that_was_killed_is_named_by_one_of_the_others(story: str) -> None:
    left, killed = told(story)
    assert killed is None
    assert left["line"].startswith("rank 1 of 2 has ended without a word (killed, or out of memory), so all stop")
    assert left["korean"].startswith("랭크 1(전체 2개): 아무 말 없이 끝났습니다")


@pytest.mark.slow
def test_a_rank_that_is_not_heard_of_any_more_is_named() -> None:
    left, silent = told("second_is_silent")
    assert silent is None
    assert left["line"].startswith("rank 0 of 2 hears nothing from rank 1 (") and "so all stop" in left["line"]


@pytest.mark.slow
def test_without_the_rank_where_all_meet_a_rank_says_that_it_reaches_nobody() -> None:
    killed, left = told("first_is_killed")
    assert killed is None and left["line"].startswith("rank 1 of 2 no longer reaches the others (")


@pytest.mark.slow
def test_who_has_not_come_is_named() -> None:
    (alone,) = told("nobody_else")
    assert alone["line"].startswith("rank 0 has waited 2 s for rank 1 of 2; check that machine and the network")
    (lost,) = told("no_first")
    assert lost["line"].startswith("rank 1 of 2 cannot meet the others at 127.0.0.1:")


@pytest.mark.slow
def test_a_single_process_of_torchrun_is_alone() -> None:
    (alone,) = told("alone")
    assert alone["answer"]["rank"] == [0, 1, True, False]


def test_alone_nothing_is_told_to_anybody() -> None:
    with ranks_here() as ranks:
        assert ranks is ALONE
    assert ranks.first and not ranks.joined
    assert (ranks.sum(3), ranks.any(True), ranks.gather("a")) == (3, True, ["a"])
    assert (ranks.from_first(lambda: 1), ranks.from_each(lambda: 2), ranks.after_first("x", lambda: 3)) == (1, 2, 3)
    ranks.when_all_have("done")
    ranks.wait()


def test_micro_batches_must_be_shared_evenly() -> None:
    assert Ranks(1, 4, 1).share_of(8) == 2
    with pytest.raises(RankError, match="6 micro-batches of a step cannot be shared among 4 ranks; start a number of"):
        Ranks(1, 4, 1).share_of(6)
