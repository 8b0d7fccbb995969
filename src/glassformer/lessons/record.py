"""A lesson's result with its provenance; stored beside the code, or in the user's cache."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glassformer.files import disk, write_text
from glassformer.lessons.catalogue import lesson, module_of
from glassformer.lessons.fingerprint import fingerprint
from glassformer.lessons.setup import LessonSetup, nobody
from glassformer.lessons.trained_models import Watch, cache
from glassformer.lessons.verdict import Verdict
from glassformer.provenance import commit, machine, versions

RECORDED = Path(__file__).parent / "results"  # committed


@dataclass(frozen=True)
class LessonResult:
    """One run of one lesson. Verdicts are not stored: they are computed from the data on request."""

    name: str
    command: str
    data: dict[str, Any]
    fingerprint: str  # of the code that measured
    seeds: list[int]
    seconds: float
    commit: str
    versions: dict[str, str]
    machine: dict[str, Any]

    @property
    def stale(self) -> bool:
        """Whether the code or a recipe has changed since."""
        return self.fingerprint != current(self.name)

    def verdicts(self) -> Mapping[str, Verdict]:
        return lesson(self.name).verdicts(self.data)

    def write(self, folder: Path) -> Path:
        """Write under another name first, so that a full disk leaves the old result intact."""
        path = folder / f"{self.name}.json"
        with disk(path):
            folder.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, indent=1) + "\n")
        return path

    @classmethod
    def read(cls, path: Path) -> LessonResult:
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def current(name: str) -> str:
    """The fingerprint of the current code of a lesson."""
    found = lesson(name)
    return fingerprint(module_of(name), found.runs, found.seeds, found.models)


def setup_of(name: str, watch: Watch = nobody) -> LessonSetup:
    """The setup of a lesson, with its number of seeds."""
    return LessonSetup(seeds=tuple(range(lesson(name).seeds)), watch=watch)


def measure(name: str, setup: LessonSetup) -> LessonResult:
    """Run a lesson now, on one thread: the same numbers on any number of cores.

    The fingerprint is taken first: if the code is edited during the run, the result is stale, not wrong.
    """
    import torch

    mark = current(name)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    began = time.monotonic()
    try:
        data = rounded(dict(lesson(name).run(setup)))
    finally:
        torch.set_num_threads(threads)
    return LessonResult(
        name=name,
        command=f"glassformer lesson {name} --fresh",
        data=data,
        fingerprint=mark,
        seeds=list(setup.seeds),
        seconds=round(time.monotonic() - began, 1),
        commit=commit(),
        versions=versions(),
        machine=machine(),
    )


def own() -> Path:
    """The folder of results that the user measures."""
    return cache() / "results"


def recorded(name: str) -> LessonResult | None:
    """The user's own result if it comes from the current code, else the one in the package."""
    candidates = [own() / f"{name}.json", RECORDED / f"{name}.json"]
    found = [result for result in map(read_result, candidates) if result is not None]
    return next((result for result in found if not result.stale), found[-1] if found else None)


def read_result(path: Path) -> LessonResult | None:
    """The result in a file; None if there is none that this version can read."""
    try:
        return LessonResult.read(path)
    except (OSError, TypeError, ValueError):
        return None


def rounded(value: Any, digits: int = 7) -> Any:
    """JSON with numbers rounded to seven digits, enough for every picture and table; null if not finite."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return float(f"{value:.{digits}g}") if math.isfinite(value) else None
        case dict():
            return {str(key): rounded(item, digits) for key, item in value.items()}
        case list() | tuple():
            return [rounded(item, digits) for item in value]
    raise TypeError(f"a lesson's data is JSON, not {type(value).__name__}")
