"""A result and where it comes from: command, commit, versions, machine.

Written as JSON in numbers and codes alone, rendered as tables in either language.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glassformer.files import write_text
from glassformer.provenance import commit, machine, versions
from glassformer.words import say

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class BenchResult:
    """One run of one benchmark."""

    name: str
    command: str
    numbers: Any  # JSON: whatever the benchmark's table is made from
    commit: str
    versions: dict[str, str]
    machine: dict[str, Any]  # cores, and the accelerator's name: "" where there is none

    def source(self, lang: str) -> str:
        """One line on where the numbers come from."""
        accelerator = self.machine["accelerator"] or say("bench.no_accelerator", lang)
        machine = say("bench.machine", lang, cores=self.machine["cores"], accelerator=accelerator)
        versions = ", ".join(f"{package} {version}" for package, version in self.versions.items())
        return say("bench.source", lang, command=self.command, machine=machine, versions=versions, commit=self.commit)

    def write(self, path: Path) -> None:
        """Under another name first, so that a full disk leaves the old result as it was."""
        write_text(path, json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> BenchResult:
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def result(name: str, numbers: Any) -> BenchResult:
    """The numbers, with everything needed to repeat them."""
    return BenchResult(
        name=name,
        command=f"glassformer bench {name}",
        numbers=numbers,
        commit=commit(),
        versions=versions(),
        machine=machine(),
    )


def is_of(name: str, path: Path) -> bool:
    """Whether a file is an older record of the same benchmark, which a new one replaces."""
    try:
        return BenchResult.read(path).name == name
    except (OSError, ValueError, TypeError):
        return False
