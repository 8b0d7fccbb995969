"""Training that can be watched: the status block, the pictures and TensorBoard follow every event."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from glassformer.ranks import RankLostError
from glassformer.runs import Run
from glassformer.training import events
from glassformer.training.board import Board
from glassformer.training.events import Event
from glassformer.training.job import Training
from glassformer.training.loop import train
from glassformer.training.pictures import draw_run
from glassformer.training.status import LogSummary, write_block

Clock = Callable[[], float]  # seconds

APART = 20  # times as long as a drawing takes: so much lies between two of them, so drawing takes 5 % of a run at most
FIRST_GUESS = 1.0  # seconds of a drawing, before there has been one


@dataclass(frozen=True)
class NotShown:
    """The status, the pictures or TensorBoard could not be kept up to date. Reported once; training continues."""

    what: str  # "status", "pictures" or "tensorboard"
    error: Exception


def train_watched(job: Training, *, resume: bool = False, clock: Clock = time.monotonic) -> Iterator[Event | NotShown]:
    """`train`, keeping the status, the pictures and TensorBoard in the run folder up to date; of several ranks, one
    does that."""
    if not job.ranks.first:
        yield from train(job, resume=resume)
        return
    watcher: RunWatcher | None = None
    with closing(train(job, resume=resume)) as happening:  # type: ignore[type-var]
        try:
            for event in happening:
                if isinstance(event, events.Started):  # now the folder is locked and the log cut back, so it is ours
                    watcher = RunWatcher(job.run, clock)
                if watcher is not None:
                    yield from watcher.see(event)
                yield event
        except (Exception, KeyboardInterrupt) as error:
            if watcher is not None:
                yield from watcher.write("failed")
                if isinstance(error, Exception) and not isinstance(error, RankLostError):  # nor a second Ctrl-C
                    yield from watcher.draw()
            raise
        finally:
            if watcher is not None:
                watcher.close()


class Pace:
    """When a run may be drawn again: `APART` times as long after a drawing as the drawing took.

    A run of half a minute on a GPU is drawn once or twice instead of at each of twenty evaluations; one that is watched
    on a CPU shows its first picture at the first evaluation after 20 seconds, and nearly every later one.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.due = clock() + APART * FIRST_GUESS

    @property
    def is_due(self) -> bool:
        return self.clock() >= self.due

    def timed(self, draw: Callable[[], object]) -> None:
        began = self.clock()
        try:
            draw()
        finally:
            ended = self.clock()
            self.due = ended + APART * (ended - began)


class RunWatcher:
    """One session of training, seen from outside."""

    def __init__(self, run: Run, clock: Clock = time.monotonic) -> None:
        self.run = run
        self.pace = Pace(clock)
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
            yield from self.draw()
        board = self.board
        if board is not None:
            yield from self._try("tensorboard", lambda: board.see(event))

    def _is_drawn(self, event: Event) -> bool:
        """The end always; an evaluation if drawing is due again, except the last, which the end follows at once."""
        if isinstance(event, events.Evaluated):
            return event.step < self.last_step and self.pace.is_due
        return isinstance(event, events.Stopped)

    def draw(self) -> Iterator[NotShown]:
        yield from self._try("pictures", lambda: self.pace.timed(lambda: draw_run(self.run)))

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
