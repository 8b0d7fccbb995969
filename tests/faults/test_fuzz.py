"""Hostile inputs by the thousand: refused in one line or answered, with nothing lost and no traceback.

The suite asks ten thousand cases in process and thirty as commands of their own. `make fuzz` asks as many as
GLASSFORMER_FUZZ says (a million in the recorded run), in shards for as many processes as there are, and a thousand of
them as commands; GLASSFORMER_FUZZ_RECORD is the folder that its shards write what they found to.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from faults.fuzz import FAMILIES, Case, cases, holds, world
from faults.fuzz_record import RECORD, together
from glassformer.bench.record import Result

SUITE, COMMANDS = 10_000, 30
MANY, MANY_COMMANDS = int(os.environ.get("GLASSFORMER_FUZZ", "100000")), 1_000
FIRST_SEED = 1_000
SHARDS = int(os.environ.get("GLASSFORMER_FUZZ_SHARDS", "64"))


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")


def ask(family: str, count: int, number: int, *, as_command: bool = False) -> Counter[str]:
    """`count` cases of a family, the same ones for the same number; how they went."""
    went: Counter[str] = Counter()
    if not count:
        return went

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(cases(family, commands=as_command))
    def each(case: Case) -> None:
        went[holds(case, as_command=as_command)] += 1

    each()
    return went


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_hostile_is_refused_in_one_line_and_nothing_is_lost(family: str) -> None:
    count = round(SUITE * FAMILIES[family].share)
    went = ask(family, count, 0)
    assert went.total() == count
    assert min(went["answered"], went["refused"]) >= count // 100  # neither all of it nonsense, nor all of it harmless


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_holds_for_real_commands(family: str) -> None:
    assert ask(family, round(COMMANDS * FAMILIES[family].commands), 1, as_command=True).total()


def test_the_shares_are_of_one_whole() -> None:
    assert sum(family.share for family in FAMILIES.values()) == pytest.approx(1)
    assert sum(family.commands for family in FAMILIES.values()) == pytest.approx(1)


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_shard_of_a_million(shard: int) -> None:
    _ask_and_record(shard, {name: round(MANY * family.share) for name, family in FAMILIES.items()})


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_shard_of_a_thousand_commands(shard: int) -> None:
    counts = {name: round(MANY_COMMANDS * family.commands) for name, family in FAMILIES.items()}
    _ask_and_record(shard, counts, as_command=True)


def _ask_and_record(shard: int, counts: dict[str, int], *, as_command: bool = False) -> None:
    """The record is written whether or not all went well."""
    world()  # takes seconds, once in a process
    started, went, failures = time.perf_counter(), {}, []
    for name, count in counts.items():
        try:
            went[name] = ask(name, _part(count, shard), FIRST_SEED + shard, as_command=as_command)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}"[:1000])
    numbers = {"went": went, "failures": failures, "seconds": time.perf_counter() - started}
    _record(f"{'commands' if as_command else 'cases'}-{shard:03d}.json", {"seed": FIRST_SEED + shard, **numbers})
    assert not failures, failures


def _part(count: int, shard: int) -> int:
    """The cases are dealt out: the first shards get one more where they do not divide."""
    return count // SHARDS + (shard < count % SHARDS)


def _record(name: str, numbers: dict[str, object]) -> None:
    folder = os.environ.get("GLASSFORMER_FUZZ_RECORD")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / name).write_text(json.dumps(numbers) + "\n", encoding="utf-8")


def test_shards_are_put_together() -> None:
    one = {"seed": 1, "seconds": 2.0, "went": {"a": {"refused": 3}}, "failures": []}
    other = {"seed": 2, "seconds": 3.0, "went": {"a": {"refused": 1, "answered": 4}}, "failures": ["a: KeyError"]}
    assert together([one, other]) == {
        "count": 8,
        "families": {"a": {"refused": 4, "answered": 4}},
        "failures": ["a: KeyError"],
        "seconds": 5.0,
        "seeds": [1, 2],
    }


def test_the_recorded_run_asked_a_million_cases_and_none_failed() -> None:
    if not RECORD.is_file():
        pytest.skip(f"{RECORD.name} has not been recorded yet")
    found = Result.read(RECORD)
    for kind, least in {"cases": 1_000_000, "commands": 1_000}.items():
        numbers = found.numbers[kind]
        assert numbers["count"] >= least and numbers["failures"] == []
        assert numbers["families"].keys() == FAMILIES.keys()
        assert len(set(numbers["seeds"])) == len(numbers["seeds"])
    assert found.commit != "unknown" and found.versions and found.machine
