"""log.jsonl: one JSON object a line, each with its step. After a resume every step stands in it once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from glassformer.files import disk, finite, write_text


class Log:
    """The log of one run; it is kept open while the run is trained."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[dict[str, Any]]:
        """Every whole line; the last one may be half written when the process was killed."""
        return list(self._lines())

    def append(self, record: Mapping[str, Any]) -> None:
        with disk(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(finite(record), ensure_ascii=False) + "\n")

    def sync(self) -> None:
        with disk(self.path), self.path.open("a", encoding="utf-8") as file:
            os.fsync(file.fileno())

    def cut(self, step: int, finished: bool = False) -> None:
        """Forget what came after a step, and a last line that is half written; the mean of a run that goes on, too."""
        kept = [
            json.dumps(record, ensure_ascii=False) + "\n"
            for record in self._lines()
            if record["step"] <= step and (finished or record.get("kind") != "averaged")
        ]
        write_text(self.path, "".join(kept))

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self.path.is_file():
            return
        for line in self.path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and isinstance(record.get("step"), int):
                yield record
