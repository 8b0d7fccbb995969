"""What hostile inputs are given to: a small world of trained runs, and what a case is.

A case is a few files beside the world, and a question: a command line, or a call from Python. The world is on disk once
per process; whatever a case has written over is put back after it.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import tiny_runs
from foreign_texts import sentencepiece_model
from glassformer.cli import commands
from glassformer.hub.export import export_run
from glassformer.loading import Loaded, load
from glassformer.training.begin import begin
from glassformer.training.loop import train
from texts import SIZES
from texts import trained as trained_tokenizer
from tiny_tasks import tiny

KINDS = (
    "translation",
    "classification",
    "masked_language_model",
    "language_model",
    "image_classification",
    "forecasting",
)
TOKENIZER_KINDS = (*SIZES, "foreign")
BERT = {"position": "learned", "norm_order": "post", "final_norm": False, "embedding_norm": True}
EXPORTED: dict[str, dict[str, Any]] = {  # by task: what a model must have to leave as Hugging Face's
    "masked_language_model": BERT | {"embedding_scale": False, "segments": 1, "activation": "gelu"},
    "translation": {"position": {"kind": "sinusoidal", "layout": "halves"}},
    "language_model": {"position": "learned", "embedding_scale": False},
    "image_classification": {},
}
HERE = "{here}"  # in a command line: the folder of the world


@dataclass(frozen=True)
class Case:
    """Files by name below the world (None: the file is away), and a command line or a call."""

    files: Mapping[str, bytes | None]
    ask: tuple[str, ...] | Callable[[], object]

    def __repr__(self) -> str:
        if not isinstance(self.ask, partial):
            return f"Case({dict(self.files)!r}, {self.ask})"
        given = [_written(each) for each in self.ask.args if not isinstance(each, Loaded)]  # a model is pages long
        return f"Case({dict(self.files)!r}, {getattr(self.ask.func, '__name__', self.ask.func)}({', '.join(given)}))"


def _written(value: object) -> str:
    """Python writes no number of over 4,300 digits and no list of thousands of levels."""
    try:
        return repr(value)
    except (ValueError, RecursionError) as error:
        return f"<{type(value).__name__}: {error}>"


class World:
    """A folder with a trained run of every task and a tokenizer of every kind; `here` is where all paths begin."""

    def __init__(self) -> None:
        self.here = Path(tempfile.mkdtemp(prefix="glassformer-fuzz-"))
        for kind in KINDS:
            tiny_runs.trained(kind, self.here)
        for kind in SIZES:
            trained_tokenizer(kind).save(self.here / "tokenizers" / kind)
        (self.here / "tokenizers" / "foreign").mkdir()
        (self.here / "tokenizers" / "foreign" / "spiece.model").write_bytes(sentencepiece_model())
        for kind, keys in EXPORTED.items():
            for _ in train(begin(tiny(kind, model=keys), self.here / "leaving")):
                pass
            export_run(self.here / "leaving", self.here / "hf" / kind)
            shutil.rmtree(self.here / "leaving")
        self.uses = {kind: tiny_runs.use(kind, self.here / kind, self.here) for kind in KINDS}
        for left in ("samples", "pictures", "checkpoints/step-00000004"):
            for kind in KINDS:
                shutil.rmtree(self.here / kind / left, ignore_errors=True)
        self.before = self.now()
        self.contents = {path: Path(path).read_bytes() for path in self.before}

    def now(self) -> dict[str, tuple[int, int]]:
        """Every file, with its size and the moment of its last change."""
        return {path: (known.st_size, known.st_mtime_ns) for path, known in _files(str(self.here))}

    def loaded(self, kind: str) -> Loaded:
        return _loaded(self.here / kind)

    def content(self, name: str) -> bytes:
        """As it was before any case."""
        return self.contents[str(self.here / name)]


@cache
def _loaded(run: Path) -> Loaded:
    return load(run)


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _files(entry.path)
        else:
            yield entry.path, entry.stat()


@cache
def world() -> World:
    """Made once; in memory where the machine has a place for that."""
    commands.whole_command = cache(commands.whole_command)  # typer takes 60 ms to make it, the same every time
    made = World()
    atexit.register(shutil.rmtree, made.here, ignore_errors=True)
    return made


@cache
def file_names(folder: str) -> list[str]:
    here = world().here
    return sorted(str(path.relative_to(here)) for path in (here / folder).rglob("*") if path.is_file())


def use(kind: str) -> tuple[str, ...]:
    place = world()
    return tuple(word.replace(str(place.here), HERE) for word in place.uses[kind])
