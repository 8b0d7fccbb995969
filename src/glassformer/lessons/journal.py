"""What a long measuring has done so far: if it is interrupted, the same command goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from glassformer.files import disk, write_json
from glassformer.lessons.record import LessonResult, current, readable
from glassformer.lessons.trained_models import cache


class Journal:
    """Of measuring these lessons into this folder; another set of lessons has a journal of its own."""

    def __init__(self, names: Sequence[str], folder: Path) -> None:
        self.names, self.folder = list(names), folder
        digest = hashlib.sha256("\n".join([str(folder.resolve()), *sorted(names)]).encode()).hexdigest()[:10]
        self.path = cache() / "journals" / f"{digest}.json"
        self._done: dict[str, str] = self._read()

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none, or one that a killed process left half written
            return {}
        return {str(name): str(mark) for name, mark in found.items()} if isinstance(found, dict) else {}

    def results(self) -> dict[str, LessonResult]:
        """Those that are done, by code that has not changed since, and still there to be read."""
        found = {}
        for name, mark in self._done.items():
            if name not in self.names or mark != current(name):
                continue
            result = readable(self.folder / f"{name}.json")
            if result is not None and result.fingerprint == mark:
                found[name] = result
        return found

    def note(self, result: LessonResult) -> None:
        self._done[result.name] = result.fingerprint
        with disk(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(self.path, self._done)

    def close(self) -> None:
        """All is done: the next time begins anew."""
        with disk(self.path):
            self.path.unlink(missing_ok=True)
