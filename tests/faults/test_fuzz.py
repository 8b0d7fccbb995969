"""Hostile inputs by the thousand: refused in one line or answered, with nothing lost and no traceback.

The suite asks four thousand cases in process and ten as commands of their own. `make fuzz` asks as many as
GLASSFORMER_FUZZ says (a million in the recorded run), in shards for as many processes as there are, and a thousand of
them as commands; GLASSFORMER_FUZZ_RECORD is the folder that its shards write what they found to.
"""

from __future__ import annotations

import json
import operator
import os
import re
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

import glassformer as gf
from faults import fuzz_record
from faults.fuzz.families import FAMILIES, Family, made
from faults.fuzz.world import Case, world
from faults.fuzz_record import FIRST_SEED, RECORD, Shard, ask, asked_or_recorded, together
from glassformer.bench.record import BenchResult

SUITE, COMMANDS = 4_000, 10
MANY, MANY_COMMANDS = int(os.environ.get("GLASSFORMER_FUZZ", "100000")), 1_000
SHARDS = int(os.environ.get("GLASSFORMER_FUZZ_SHARDS", "64"))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_hostile_is_refused_in_one_line_and_nothing_is_lost(family: str) -> None:
    count = round(SUITE * FAMILIES[family].share)
    went, failures = ask(family, count, 0)
    assert not failures, failures[0]
    assert went.total() == count
    assert min(went["answered"], went["refused"]) >= count // 100  # neither all of it nonsense, nor all of it harmless


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_holds_for_real_commands(family: str) -> None:
    count = round(COMMANDS * FAMILIES[family].commands)
    went, failures = ask(family, count, 1, as_command=True)
    assert not failures, failures[0]
    assert went.total() == count


def test_the_shares_are_of_one_whole() -> None:
    assert sum(family.share for family in FAMILIES.values()) == pytest.approx(1)
    assert sum(family.commands for family in FAMILIES.values()) == pytest.approx(1)


# --- the recorded run ---


@pytest.mark.fuzz
@pytest.mark.parametrize("at", range(SHARDS))
def test_a_shard_of_a_million(at: int) -> None:
    _none_fails(Shard(at, SHARDS, {name: round(MANY * family.share) for name, family in FAMILIES.items()}))


@pytest.mark.fuzz
@pytest.mark.parametrize("at", range(SHARDS))
def test_a_shard_of_a_thousand_commands(at: int) -> None:
    counts = {name: round(MANY_COMMANDS * family.commands) for name, family in FAMILIES.items()}
    _none_fails(Shard(at, SHARDS, counts, as_command=True))


def _none_fails(shard: Shard) -> None:
    folder = os.environ.get("GLASSFORMER_FUZZ_RECORD")
    world()  # takes seconds, once in a process
    failures = asked_or_recorded(shard, Path(folder) if folder else None)["failures"]
    assert not failures, "\n".join(failures)


def test_the_recorded_run_asked_a_million_cases_and_none_failed() -> None:
    """Of every case as it was last asked: what an earlier commit failed in was mended and asked again."""
    found = BenchResult.read(RECORD)
    for kind, least in {"cases": 1_000_000, "commands": 1_000}.items():
        numbers = found.numbers[kind]
        assert numbers["count"] >= least and numbers["failures"] == []
        assert numbers["families"].keys() == FAMILIES.keys()
        assert all(went.keys() <= {"answered", "refused"} for went in numbers["families"].values())
        assert len(set(numbers["seeds"])) == len(numbers["seeds"])
        assert sum(run["asked"][kind] for run in found.numbers["runs"]) >= least
    for run in found.numbers["runs"]:
        assert run["commit"] != "unknown" and run["versions"] and run["machine"]


# --- shards and their records ---


def _record(at: int, **changes: Any) -> dict[str, Any]:
    """Of the first or the second of two shards, of eight cases in all."""
    of_run = {"commit": "c", "of": 2, "counts": {"a": 8}, "seed": FIRST_SEED + at}
    return of_run | {"went": {"a": {"refused": 3, "answered": 1}}, "failures": [], "seconds": 2.0} | changes


def test_shards_are_put_together() -> None:
    failed = {"a": {"answered": 3, "failed": 1}}
    assert together([_record(0), _record(1, went=failed, failures=["a: KeyError"])]) == {
        "count": 8,
        "families": {"a": {"refused": 3, "answered": 4, "failed": 1}},
        "failures": ["a: KeyError"],
        "seconds": 4.0,
        "seeds": [1_000, 1_001],
    }


@pytest.mark.parametrize(
    ("shards", "why"),
    [
        ([], "no shard was recorded"),
        ([_record(1)], "1 of 2 shards were not recorded: 0"),
        ([_record(0), _record(1, of=3)], "the shards differ in of: [2, 3]"),
        ([_record(0), _record(1, counts={"a": 9})], "the shards differ in counts: [{'a': 8}, {'a': 9}]"),
        ([_record(0), _record(1, went={"a": {"refused": 3}})], "{'a': 7} were asked of {'a': 8}"),
        ([_record(0), _record(1, went={})], "{'a': 4} were asked of {'a': 8}"),
    ],
)
def test_less_than_the_whole_run_is_not_recorded(shards: list[dict[str, Any]], why: str, tmp_path: Path) -> None:
    folder = _write(tmp_path / "one", cases=[_record(0), _record(1)], commands=shards)
    assert fuzz_record.main([folder], tmp_path / "fuzz.json") == f"commands: {why}; nothing was written"
    assert not (tmp_path / "fuzz.json").exists()


def test_a_folder_of_two_commits_is_not_recorded(tmp_path: Path) -> None:
    whole = [_record(0), _record(1)]
    folder = _write(tmp_path / "one", cases=whole, commands=[_record(0), _record(1, commit="d")])
    why = f"{folder}: the shards are of different commits: ['c', 'd']; nothing was written"
    assert fuzz_record.main([folder], tmp_path / "fuzz.json") == why
    assert not (tmp_path / "fuzz.json").exists()


def test_a_whole_run_is_recorded_with_where_it_comes_from(tmp_path: Path) -> None:
    whole = [_record(0), _record(1)]
    assert fuzz_record.main([_write(tmp_path / "one", cases=whole, commands=whole)], tmp_path / "fuzz.json") == ""
    found = BenchResult.read(tmp_path / "fuzz.json")
    assert (found.commit, found.versions, found.machine) == ("c", {"python": "3"}, {"cores": 2})
    assert found.numbers["commands"]["count"] == 8
    assert found.numbers["runs"] == [_source("c") | {"asked": {"cases": 8, "commands": 8}}]


def test_a_shard_that_a_later_run_asked_again_counts_once_and_what_was_found_is_told(tmp_path: Path) -> None:
    failed = {
        "went": {"a": {"refused": 3, "failed": 1}},
        "failures": ["a 1001 00: KeyError:\n 'x' at b.py:1 for Case({}, f)"],
    }
    first = _write(tmp_path / "one", cases=[_record(0), _record(1, **failed)], commands=[_record(0)])
    again = {"cases": [_record(1, commit="d")], "commands": [_record(1, commit="d")]}
    later = _write(tmp_path / "two", commit="d", **again)
    assert fuzz_record.main([first, later], tmp_path / "fuzz.json") == ""
    numbers = BenchResult.read(tmp_path / "fuzz.json").numbers
    assert numbers["cases"]["count"] == 8 and numbers["cases"]["failures"] == []
    assert numbers["cases"]["families"] == {"a": {"refused": 6, "answered": 2}}
    assert numbers["cases"]["found"] == ["a 1001 00: KeyError: 'x' at b.py:1"] and numbers["commands"]["found"] == []
    asked = [(run["commit"], run["asked"]["cases"], run["asked"]["commands"]) for run in numbers["runs"]]
    assert asked == [("c", 8, 4), ("d", 4, 4)]


def _source(commit: str) -> dict[str, Any]:
    return {"commit": commit, "versions": {"python": "3"}, "machine": {"cores": 2}}


def _write(folder: Path, *, cases: list[dict[str, Any]], commands: list[dict[str, Any]], commit: str = "c") -> Path:
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(_source(commit)))
    for kind, records in {"cases": cases, "commands": commands}.items():
        for at, record in enumerate(records):
            (folder / f"{kind}-{at:03d}.json").write_text(json.dumps(record))
    return folder


def test_a_shard_that_was_recorded_whole_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_COMMIT", "c")
    shard = Shard(0, 2, {"a": 8})
    folder = _write(tmp_path / "one", cases=[_record(0)], commands=[])
    assert asked_or_recorded(shard, folder) == _record(0)
    for other in ({"commit": "d"}, {"failures": ["a: KeyError"]}, {"went": {"a": {"refused": 3}}}):
        assert not shard.is_whole(_record(0, **other))


@pytest.mark.slow
def test_what_fails_is_told_with_the_seed_that_makes_it_again_and_does_not_stop_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(chance: Random) -> Case:
        return Case({}, partial(operator.getitem, {}, chance.random()))

    monkeypatch.setitem(FAMILIES, "broken", Family(broken, 0, 0))
    went, failures = ask("broken", 3, 5)
    assert went == {"failed": 3} and len(failures) == 3
    family, number, drawn = failures[0].partition(":")[0].split()
    assert "KeyError: 0." in failures[0]
    assert failures[0].endswith(f" for {made(family, int(number).to_bytes(4) + bytes.fromhex(drawn))!r}")


def test_a_case_can_be_told_whatever_is_in_it() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (10**5_000, deep):
        assert re.match(r"Case\({}, check\(<dict: .+>\)\)", repr(Case({}, partial(gf.check, {"d_model": value}))))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_commands_and_the_numbers_of_two_shards_make_different_ones(family: str) -> None:
    one, other = (made(family, number.to_bytes(4) + bytes(8), as_command=True) for number in (1, 2))
    assert isinstance(one.ask, tuple) and isinstance(other.ask, tuple) and one != other
