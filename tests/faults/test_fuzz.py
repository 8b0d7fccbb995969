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

from faults.fuzz import FAMILIES, Case, cases, holds

SUITE, COMMANDS = 10_000, 30
MANY, MANY_COMMANDS = int(os.environ.get("GLASSFORMER_FUZZ", "100000")), 1_000
SHARDS = int(os.environ.get("GLASSFORMER_FUZZ_SHARDS", "64"))


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")


def ask(family: str, count: int, number: int, *, as_command: bool = False) -> Counter[str]:
    """`count` cases of a family, the same ones for the same number; how they went."""
    went: Counter[str] = Counter()

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
    """A thousand of the cases are commands; the record is written whether or not all went well."""
    started, went, failures = time.perf_counter(), {}, []
    for name, family in FAMILIES.items():
        for as_command in (False, True):
            share = (MANY_COMMANDS * family.commands) if as_command else (MANY * family.share)
            count = _part(round(share), shard)
            if not count:
                continue
            try:
                went[f"{name}{' as commands' if as_command else ''}"] = dict(
                    ask(name, count, 1000 + shard, as_command=as_command)
                )
            except Exception as error:
                failures.append(f"{name}: {type(error).__name__}: {error}"[:1000])
    _record(shard, {"went": went, "failures": failures, "seconds": time.perf_counter() - started})
    assert not failures, failures


def _part(count: int, shard: int) -> int:
    """The cases are dealt out: the first shards get one more where they do not divide."""
    return count // SHARDS + (shard < count % SHARDS)


def _record(shard: int, numbers: dict[str, object]) -> None:
    folder = os.environ.get("GLASSFORMER_FUZZ_RECORD")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        path = Path(folder) / f"shard-{shard:03d}.json"
        path.write_text(json.dumps({"shard": shard, "seed": 1000 + shard, **numbers}) + "\n", encoding="utf-8")
