"""The layout of a run folder: which file holds what, its log and its lock. All code that reads or writes a run uses it.

log.jsonl holds one JSON object per line, each with its step; also after a resume, every step occurs once. The lock is
the kernel's (flock), so that a killed process leaves none behind.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig
from glassformer.config.toml import read_toml
from glassformer.config.values import path_of
from glassformer.errors import FileError
from glassformer.files import TEMPORARY, disk, read_json, sync, without_nan, write_json, write_text
from glassformer.runs.manifest import is_whole
from glassformer.runs.paths import resolve_paths, stored

LOCK = ".lock"
Schemas = Mapping[str, Schema]  # by the name of the choice, "data.source"
NONE: Schemas = MappingProxyType({})
STEP = re.compile(r"step-(\d{8,})")


@dataclass(frozen=True)
class Run:
    """A run: `Run.create(folder, config)` begins one, `Run.open(folder)` finds it again.

    config.toml · environment.json · status.json · best.json · log.jsonl
    tokenizer/ · checkpoints/step-00001000/ · averaged/ · samples/ · pictures/
    """

    folder: Path

    @classmethod
    def create(
        cls, folder: str | Path, config: RunConfig, fill: Callable[[Run], None] | None = None, options: Schemas = NONE
    ) -> Run:
        """A new folder; `fill` adds what belongs to it, the tokenizer for example. All of it appears, or nothing.

        `options`: all options, so that config.toml can list those left at their defaults: see `RunConfig.to_toml`.
        """
        folder = Path(folder)
        if (folder / "config.toml").exists():
            raise FileError("run_exists", path=folder)
        with disk(folder):
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise FileError("folder_not_empty", path=folder)
            folder.parent.mkdir(parents=True, exist_ok=True)
            draft = cls(folder.with_name(TEMPORARY + folder.name))
            shutil.rmtree(draft.folder, ignore_errors=True)
            try:
                draft.write_new(config, folder, fill, options)
                draft.folder.rename(folder)
                sync(folder.parent)
            finally:
                shutil.rmtree(draft.folder, ignore_errors=True)
        return cls(folder)

    def write_new(
        self, config: RunConfig, place: Path, fill: Callable[[Run], None] | None = None, options: Schemas = NONE
    ) -> None:
        """What every run begins with, in a draft that will be renamed to `place`."""
        for inner in (self.checkpoints_folder, self.samples, self.pictures):
            inner.mkdir(parents=True)
        if fill is not None:
            fill(self)
        write_text(self.folder / "config.toml", stored(config, place).to_toml(options))

    @classmethod
    def open(cls, folder: str | Path) -> Run:
        run = cls(path_of("run", folder))
        if not (run.folder / "config.toml").is_file():
            raise FileError("not_a_run", path=run.folder)
        return run

    # --- its files ---

    @cached_property
    def config(self) -> RunConfig:
        return resolve_paths(RunConfig.from_dict(read_toml(self.folder / "config.toml")), self.folder)

    def write_config(self, config: RunConfig, options: Schemas = NONE) -> None:
        write_text(self.folder / "config.toml", stored(config, self.folder).to_toml(options))

    @property
    def log(self) -> Log:
        return Log(self.folder / "log.jsonl")

    @property
    def status(self) -> dict[str, Any]:
        return self._table("status.json")

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Replaced often and easy to recreate, so it is not synced."""
        write_json(self.folder / "status.json", status, durable=False)

    @property
    def environment(self) -> dict[str, Any]:
        return self._table("environment.json")

    def write_environment(self, environment: Mapping[str, Any]) -> None:
        write_json(self.folder / "environment.json", environment)

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer"

    @property
    def samples(self) -> Path:
        return self.folder / "samples"

    @property
    def pictures(self) -> Path:
        return self.folder / "pictures"

    # --- checkpoints ---

    @property
    def checkpoints_folder(self) -> Path:
        return self.folder / "checkpoints"

    def checkpoint(self, step: int) -> Path:
        return self.checkpoints_folder / f"step-{step:08d}"

    @property
    def checkpoints(self) -> list[Path]:
        """All checkpoints that look whole, oldest first."""
        return [path for _, path in sorted(self.checkpoints_by_step().items()) if is_whole(path)]

    def checkpoints_by_step(self) -> dict[int, Path]:
        """Every folder with the name of a checkpoint, whole or not."""
        if not self.checkpoints_folder.is_dir():
            return {}
        found = [(STEP.fullmatch(path.name), path) for path in self.checkpoints_folder.iterdir()]
        return {int(match[1]): path for match, path in found if match}

    @property
    def last(self) -> Path | None:
        checkpoints = self.checkpoints
        return checkpoints[-1] if checkpoints else None

    @property
    def best_step(self) -> int | None:
        """The step that was best in validation; None before the first one."""
        step = self._table("best.json").get("step")
        return step if isinstance(step, int) else None

    @property
    def best(self) -> Path | None:
        """The checkpoint of that step, if it looks whole."""
        step = self.best_step
        return self.checkpoint(step) if step is not None and is_whole(self.checkpoint(step)) else None

    def write_best(self, best: Mapping[str, Any]) -> None:
        write_json(self.folder / "best.json", best)

    @property
    def averaged(self) -> Path | None:
        """The mean of the last checkpoints, written when training ended; None if there is none."""
        return self.averaged_folder if is_whole(self.averaged_folder) else None

    @property
    def has_weights(self) -> bool:
        """Whether there are any weights; `choose_weights` checks whether they are whole."""
        return self.averaged_folder.is_dir() or bool(self.checkpoints_by_step())

    @property
    def averaged_folder(self) -> Path:
        return self.folder / "averaged"

    def _table(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        table = read_json(path) if path.is_file() else {}
        return table if isinstance(table, dict) else {}


def is_run(path: str | Path) -> bool:
    """Whether a name is the folder of a run, not of images: by files that every run has, even a damaged one."""
    folder = Path(path)
    return folder.is_dir() and any((folder / name).exists() for name in ("config.toml", "checkpoints", "log.jsonl"))


@dataclass(frozen=True)
class SeenRun(Run):
    """A run as those ranks see it that do not write it: they read its files and leave nothing there."""

    @property
    def log(self) -> Log:
        return SeenLog(self.folder / "log.jsonl")

    def write_status(self, status: Mapping[str, Any]) -> None: ...

    def write_environment(self, environment: Mapping[str, Any]) -> None: ...

    def write_best(self, best: Mapping[str, Any]) -> None: ...


class Log:
    """The log of one run; it is kept open while the run is trained."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[dict[str, Any]]:
        """Every whole line; the last one may be half written when the process was killed."""
        return list(self._lines())

    def append(self, record: Mapping[str, Any]) -> None:
        with disk(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(without_nan(record), ensure_ascii=False) + "\n")

    def sync(self) -> None:
        with disk(self.path), self.path.open("a", encoding="utf-8") as file:
            os.fsync(file.fileno())

    def cut(self, step: int, finished: bool = False) -> None:
        """Drop the lines after a step and a half-written last line; if the run goes on, also the averaged result."""
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


class SeenLog(Log):
    """The log, for those who only read it."""

    def append(self, record: Mapping[str, Any]) -> None: ...

    def sync(self) -> None: ...

    def cut(self, step: int, finished: bool = False) -> None: ...


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one process trains in a folder at a time; a folder in use is refused at once."""
    with disk(folder):
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FileError("run_in_use", path=folder) from error
        yield
    finally:
        os.close(handle)
