"""Asks the cases of one shard and records how they went; puts the shards of a run together.

    python tests/faults/fuzz_record.py FOLDER … FILE

A shard is asked again only when its record is not of this commit, was made from other numbers, or has a failure in it:
a run that was stopped goes on where it was. Nothing is put together unless every shard is there. A folder is one run on
one commit and one machine; shards that a later run asked again, once a fault was mended, count as that run found them,
and what the earlier one had found in them is told.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from glassformer.bench.record import BenchResult
from glassformer.files import write_json
from glassformer.provenance import commit, machine, versions

COMMAND = "GLASSFORMER_FUZZ=1000000 pytest -m fuzz tests/faults/test_fuzz.py"
RECORD = Path(__file__).with_name("fuzz.json")
KINDS = ("cases", "commands")
FIRST_SEED = 1_000
RUN = "run.json"  # in a folder of records: where they come from
KEPT = 20  # failures of a family that a shard tells in full


def ask(family: str, count: int, number: int, *, as_command: bool = False) -> tuple[Counter[str], list[str]]:
    """`count` cases of a family, the same ones for the same number; how they went, and what failed.

    A case that fails does not keep the others from being asked.
    """
    from faults.fuzz.families import made  # here: to put records together takes no world
    from faults.fuzz.property import holds

    went: Counter[str] = Counter()
    failures: list[str] = []
    if not count:
        return went, failures

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary(min_size=8, max_size=8))
    def each(drawn: bytes) -> None:
        case = None
        try:
            case = made(family, number.to_bytes(4) + drawn, as_command=as_command)
            went[holds(case, as_command=as_command)] += 1
        except (Exception, SystemExit) as error:
            went["failed"] += 1
            failures.append(_told(family, number, drawn, case, error))

    each()
    return went, failures


def _told(family: str, number: int, drawn: bytes, case: object, error: BaseException) -> str:
    """What to make the case from again, what was raised and where, and the case."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
    what = f"{type(error).__name__}: {error}"[:600]
    return f"{family} {number} {drawn.hex()}: {what} at {' '.join(places)} for {case!r}"[:2_000]


@dataclass(frozen=True)
class Shard:
    """One part of a run: of `counts` cases by family, what falls to the part `at` of `of`."""

    at: int
    of: int
    counts: Mapping[str, int]
    as_command: bool = False

    @property
    def file(self) -> str:
        return f"{KINDS[self.as_command]}-{self.at:03d}.json"

    def part(self, family: str) -> int:
        """The cases are dealt out: the first shards get one more where they do not divide."""
        return self.counts[family] // self.of + (self.at < self.counts[family] % self.of)

    def stamp(self) -> dict[str, Any]:
        """What two records must agree in to be of the same run, and the shard's own seed."""
        return {"commit": commit(), "of": self.of, "counts": dict(self.counts), "seed": FIRST_SEED + self.at}

    def asked(self) -> dict[str, Any]:
        """Ask all of it."""
        started, went, failures = time.perf_counter(), {}, []
        for family in self.counts:
            number = FIRST_SEED + self.at
            went[family], failed = ask(family, self.part(family), number, as_command=self.as_command)
            failures += failed[:KEPT]
        return self.stamp() | {"went": went, "failures": failures, "seconds": time.perf_counter() - started}

    def is_whole(self, found: Mapping[str, Any]) -> bool:
        """Whether a record is of this shard, with every case asked and none failed."""
        return (
            all(found.get(key) == value for key, value in self.stamp().items())
            and not found["failures"]
            and all(sum(found["went"][family].values()) == self.part(family) for family in self.counts)
        )


def asked_or_recorded(shard: Shard, folder: Path | None) -> dict[str, Any]:
    """The shard's record, asked now unless it is in the folder; it is written whether or not all went well."""
    path = folder / shard.file if folder else None
    if path and path.is_file():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if shard.is_whole(found):
            return found
    found = shard.asked()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path.with_name(RUN), {"commit": commit(), "versions": versions(), "machine": machine()})
        write_json(path, found)
    return found


def missing(shards: list[dict[str, Any]]) -> str:
    """Why these records are not one whole run; "" where they are."""
    if not shards:
        return "no shard was recorded"
    first = shards[0]
    for key in ("of", "counts"):
        if any(shard[key] != first[key] for shard in shards):
            return f"the shards differ in {key}: {[shard[key] for shard in shards]}"
    there = {shard["seed"] - FIRST_SEED for shard in shards}
    away = [at for at in range(first["of"]) if at not in there]
    if away:
        return f"{len(away)} of {first['of']} shards were not recorded: {', '.join(map(str, away))}"
    asked = Counter(dict.fromkeys(first["counts"], 0))
    for shard in shards:
        asked.update({family: sum(went.values()) for family, went in shard["went"].items()})
    return "" if dict(asked) == first["counts"] else f"{dict(asked)} were asked of {first['counts']}"


def together(shards: list[dict[str, Any]]) -> dict[str, Any]:
    """How many cases of each family were answered and refused; what failed; the seconds of all processes; the seeds."""
    families: dict[str, Counter[str]] = {}
    for shard in shards:
        for name, went in shard["went"].items():
            families.setdefault(name, Counter()).update(went)
    return {
        "count": sum(went.total() for went in families.values()),
        "families": {name: dict(went) for name, went in sorted(families.items())},
        "failures": [failure for shard in shards for failure in shard["failures"]],
        "seconds": sum(shard["seconds"] for shard in shards),
        "seeds": sorted(shard["seed"] for shard in shards),
    }


@dataclass(frozen=True)
class Run:
    """The records of one folder, and where they come from."""

    source: dict[str, Any]
    shards: dict[str, list[dict[str, Any]]]

    @classmethod
    def read(cls, folder: Path) -> Self:
        shards = {kind: [_read(file) for file in sorted(folder.glob(f"{kind}-*.json"))] for kind in KINDS}
        return cls(_read(folder / RUN), shards)

    @property
    def commits(self) -> set[str]:
        return {self.source["commit"], *(shard["commit"] for kind in KINDS for shard in self.shards[kind])}

    def told(self) -> dict[str, Any]:
        return self.source | {"asked": {kind: together(self.shards[kind])["count"] for kind in KINDS}}


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def latest(runs: list[Run], kind: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Each shard as the last run found it; what earlier runs had found in those that were asked again."""
    shards: dict[int, dict[str, Any]] = {}
    found: list[str] = []
    for run in runs:
        for shard in run.shards[kind]:
            found += [_short(failure) for failure in shards.get(shard["seed"], {"failures": []})["failures"]]
            shards[shard["seed"]] = shard
    return [shards[number] for number in sorted(shards)], found


def _short(failure: str) -> str:
    """Without the case: its family, number and seed make it again."""
    return " ".join(failure.partition(" for Case(")[0].split())[:300]


def main(folders: list[Path], path: Path) -> str:
    """Why nothing was written; or "", with all runs in the file."""
    runs = [Run.read(folder) for folder in folders]
    for folder, run in zip(folders, runs, strict=True):
        if len(run.commits) > 1:
            return f"{folder}: the shards are of different commits: {sorted(run.commits)}; nothing was written"
    numbers: dict[str, Any] = {}
    for kind in KINDS:
        shards, found = latest(runs, kind)
        why = missing(shards)
        if why:
            return f"{kind}: {why}; nothing was written"
        numbers[kind] = together(shards) | {"found": found}
    numbers["runs"] = [run.told() for run in runs]
    source = runs[0].source
    BenchResult("fuzz", COMMAND, numbers, source["commit"], source["versions"], source["machine"]).write(path)
    return ""


if __name__ == "__main__":
    sys.exit(main([Path(folder) for folder in sys.argv[1:-1]], Path(sys.argv[-1])))
