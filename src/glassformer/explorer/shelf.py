"""The models that the explorer offers: those of the package and those named at the start, each opened on first use.

A request names a model; it can never name a path. One pass at a time runs through a model, and few may wait for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.config.values import one_of
from glassformer.errors import FileError, InputError, suggest
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.explorer.time_limit import limited
from glassformer.loading import Loaded, load, trained_folders
from glassformer.loading.trained import resolve_model
from glassformer.runs import Run, is_run
from glassformer.runs.weights import AUTO

WAITING = 8  # requests that may wait for one model
PATIENCE = 30.0  # seconds that a request waits before it is sent away
FIRST = "ko-en"  # of the package: what a person sees who names no model
OPEN_AT_ONCE = 4  # checkpoints of one model that stay in memory


class Busy(Exception):  # noqa: N818  (no fault: the client may try again)
    """Too many requests wait for this model, or one has waited too long."""


@dataclass
class Offered:
    """One model: its name, where it lies, and the checkpoints that are open."""

    name: str
    folder: Path
    opened: OrderedDict[str, Loaded] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    waiting: int = 0
    counting: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def use(self, checkpoint: str = AUTO, *, begun: bool = False) -> Iterator[Loaded]:
        """The model, for this request alone. Raises `Busy` if too many wait, or it has waited too long.

        An answer that has `begun`, and uses the model step by step, is not sent away for the others who wait.
        """
        with self.counting:
            if self.waiting >= WAITING and not begun:
                raise Busy
            self.waiting += 1
        try:
            if not self.lock.acquire(timeout=PATIENCE):
                raise Busy
        finally:
            with self.counting:
                self.waiting -= 1
        try:
            yield self._loaded(checkpoint)
        finally:
            self.lock.release()

    @contextmanager
    def look(self) -> Iterator[Loaded]:
        """The model for what needs no pass: once it is open, nobody waits."""
        known = self.opened.get(AUTO)
        if known is not None:
            yield known
        else:
            with self.use() as loaded:
                yield loaded

    def _loaded(self, checkpoint: str) -> Loaded:
        if checkpoint not in self.opened:
            known = [AUTO, *self.checkpoints()]
            one_of("checkpoint", checkpoint, known)  # a name of the list, never a path
            self.opened[checkpoint] = load(self.folder, checkpoint=checkpoint)
            while len(self.opened) > OPEN_AT_ONCE:
                self.opened.popitem(last=False)
        self.opened.move_to_end(checkpoint)
        return self.opened[checkpoint]

    @property
    def spoken(self) -> str:
        """What `gf.load` takes for it: the name of a model of the package, or the folder as it was typed."""
        packaged, typed = trained_folders(), str(self.folder)
        own = next((name for name, folder in packaged.items() if folder == self.folder), None)
        return own or (f"./{typed}" if typed in packaged else typed)

    @property
    def run(self) -> Run | None:
        """The run that it is, or None for an imported model, which has no checkpoints."""
        return Run.open(self.folder) if is_run(self.folder) else None

    def checkpoints(self) -> list[str]:
        """What `checkpoint` of a request may be, besides auto; the folder is read anew, since a run may go on."""
        run = self.run
        if run is None:
            return []
        named = {"averaged": run.averaged is not None, "best": run.best is not None}
        return [
            *(name for name, there in named.items() if there),
            *(str(int(path.name[5:])) for path in run.checkpoints),
        ]


class Shelf:
    """All models on offer, by name."""

    def __init__(self, models: Sequence[str | Path] = (), *, packaged: bool = True) -> None:
        self.offered: dict[str, Offered] = {}
        self.named: list[Offered] = []
        for model in models:
            folder = Path(resolve_model(model))
            if not folder.exists():
                raise FileError("explorer_no_model", model=model, known=", ".join(trained_folders()) or "–")
            self.named.append(self._put(folder.resolve().name or str(folder), folder))
        own = sorted(trained_folders().items(), key=lambda one: one[0] != FIRST)
        for name, folder in own if packaged else ():
            if folder not in (one.folder for one in self.offered.values()):
                self._put(name, folder)

    def _put(self, name: str, folder: Path) -> Offered:
        """A second model of the same name gets a number."""
        free, number = name, 2
        while free in self.offered:
            free, number = f"{name}-{number}", number + 1
        return self.offered.setdefault(free, Offered(free, folder))

    def find(self, name: str) -> Offered:
        if name not in self.offered:
            raise InputError("explorer_no_such_model", model=name, hint=suggest(name, self.offered))
        return self.offered[name]

    @contextmanager
    def use(self, asked: Fields, *, begun: bool = False) -> Iterator[tuple[Offered, Loaded]]:
        """The model and the checkpoint that a request names; for this request alone."""
        offered, checkpoint = self.find(fields.text(asked, "model")), fields.optional_text(asked, "checkpoint")
        with offered.use(checkpoint or AUTO, begun=begun) as loaded, limited(loaded.model):
            yield offered, loaded

    def open_named(self) -> None:
        """Open the models that were named, so that a damaged one is refused at the prompt and not in the page."""
        for one in self.named:
            with one.use():
                pass

    def __iter__(self) -> Iterator[Offered]:
        return iter(self.offered.values())
