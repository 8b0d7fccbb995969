"""evaluations.jsonl of a run: every time a split was scored, so that a test set that was read often shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from glassformer.runs.files import disk, finite

FILE = "evaluations.jsonl"


@dataclass(frozen=True)
class Readings:
    """All evaluations of one run, oldest first. Whoever chooses by a test set has trained on it."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / FILE

    def check(self) -> None:
        """Whether it can be written down, before an hour of work is spent on what could not be."""
        with disk(self.path), self.path.open("ab"):
            pass

    def write(self, split: str, checkpoint: str, scores: Mapping[str, Any]) -> None:
        line = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "split": split, "checkpoint": checkpoint}
        text = json.dumps(finite({**line, **scores}), ensure_ascii=False)
        with disk(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    def read(self) -> list[dict[str, Any]]:
        """Every whole line."""
        if not self.path.is_file():
            return []
        found = []
        for line in self.path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                found.append(record)
        return found

    def count(self, split: str) -> int:
        """How often a split was read."""
        return sum(record.get("split") == split for record in self.read())
