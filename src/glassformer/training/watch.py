"""Training that can be watched: the status block, the pictures and TensorBoard follow every event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from glassformer.runs import Run
from glassformer.training import events
from glassformer.training.board import Board
from glassformer.training.events import Event
from glassformer.training.loop import Training, train
from glassformer.training.pictures import draw_run
from glassformer.training.status import LogSummary, write_block


@dataclass(frozen=True)
class NotShown:
    """The status, the pictures or TensorBoard could not be kept up to date. Reported once; training continues."""

    what: str  # "status", "pictures" or "tensorboard"
    error: Exception


def train_watched(job: Training, *, resume: bool = False) -> Iterator[Event | NotShown]:
    """`train`, keeping the status, the pictures and TensorBoard in the run folder up to date."""
    watcher: RunWatcher | None = None
    with closing(train(job, resume=resume)) as happening:  # type: ignore[type-var]
        try:
            for event in happening:
                if isinstance(event, events.Started):  # now the folder is locked and the log cut back, so it is ours
                    watcher = RunWatcher(job.run)
                if watcher is not None:
                    yield from watcher.see(event)
                yield event
        except (Exception, KeyboardInterrupt):
            if watcher is not None:
                yield from watcher.write("failed")
            raise
        finally:
            if watcher is not None:
                watcher.close()


class RunWatcher:
    """One session of training, seen from outside."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.standing = LogSummary(run.log.read())
        self.board: Board | None = None
        self.given_up: set[str] = set()
        self.place: dict[str, int] = {}
        self.last_step = 0

    def see(self, event: Event) -> Iterator[NotShown]:
        match event:
            case events.StepDone():
                self.place = {"step": event.step, "epoch": event.epoch}
                return
            case events.Saving():
                return
            case events.Started():
                self.last_step = event.steps
                if Board.is_installed():
                    yield from self._try("tensorboard", lambda: self._open_board(event.step))
            case events.Logged():
                self.standing.see({"kind": "train", **vars(event)})
            case events.Evaluated():
                self.standing.see({"kind": "evaluation", "step": event.step, **event.metrics})
        yield from self.write(event.reason if isinstance(event, events.Stopped) else "running")
        if self._is_drawn(event):
            yield from self._try("pictures", lambda: draw_run(self.run))
        board = self.board
        if board is not None:
            yield from self._try("tensorboard", lambda: board.see(event))

    def _is_drawn(self, event: Event) -> bool:
        """After the last evaluation the end follows at once, and is drawn instead; before the first step there is
        nothing to draw, and a second of drawing would delay it."""
        match event:
            case events.Started():
                return event.step > 0
            case events.Evaluated():
                return event.step < self.last_step
        return isinstance(event, events.Stopped)

    def write(self, state: str) -> Iterator[NotShown]:
        yield from self._try("status", lambda: write_block(self.run, self.standing, {**self.place, "state": state}))

    def close(self) -> None:
        if self.board is not None and "tensorboard" not in self.given_up:
            self.board.close()

    def _open_board(self, step: int) -> None:
        self.board = Board(self.run.folder / "tensorboard", step)

    def _try(self, what: str, act: Callable[[], object]) -> Iterator[NotShown]:
        """A failure here, such as a missing font or a full disk, must not end a run."""
        if what in self.given_up:
            return
        try:
            act()
        except Exception as error:
            self.given_up.add(what)
            yield NotShown(what, error)
