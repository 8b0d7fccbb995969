"""evaluations.jsonl of a run: every time a split was scored, so that it shows how often a test set was read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from glassformer.errors import warn
from glassformer.files import without_nan

FILE = "evaluations.jsonl"


@dataclass(frozen=True)
class EvaluationLog:
    """All evaluations of one run, oldest first. Choosing a model by its test score is training on the test set."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / FILE

    def write(self, split: str, checkpoint: str, scores: Mapping[str, Any]) -> None:
        """Append an evaluation; if the run is read-only, warn that it is not recorded."""
        line = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "split": split, "checkpoint": checkpoint}
        record = without_nan({**line, **scores})
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        except OSError as error:
            warn("reading_unwritten", path=self.path, why=error.strerror or str(error))

    def read(self) -> list[dict[str, Any]]:
        """All evaluations: every whole line."""
        found: list[dict[str, Any]] = []
        for line in self.path.read_bytes().split(b"\n") if self.path.is_file() else ():
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
