"""The processes that work on one thing together, as torchrun starts them: who we are, and what they tell each other.

A process that was started alone is rank 0 of 1: nothing here costs it anything. What ranks tell each other is small and
goes from host to host (gloo); gradients and weights take the way of the device (NCCL on CUDA), in training/parallel.py.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from glassformer.errors import GlassformerError, RankError

if TYPE_CHECKING:
    from torch.distributed.distributed_c10d import Store

T = TypeVar("T")

LATEST_NEWS = 5.0  # seconds in which a rank that fails can still say so
ENDING = threading.Event()  # this process is at its end, or has failed or lost another and is about to say so


@dataclass(frozen=True)
class Ranks:
    """This process, `rank`, among `world`; `local` is its number on this machine. `joined`: it has a process group."""

    rank: int = 0
    world: int = 1
    local: int = 0
    store: Store | None = None

    @property
    def first(self) -> bool:
        """Rank 0 writes the run folder and speaks to the person."""
        return self.rank == 0

    @property
    def joined(self) -> bool:
        return self.store is not None

    def share_of(self, micro_batches: int) -> int:
        """How many of the micro-batches of a step are this rank's."""
        if micro_batches % self.world:
            raise RankError("ranks_share", count=micro_batches, world=self.world)
        return micro_batches // self.world

    # --- what ranks tell each other; every rank must ask the same, in the same order ---

    def sum(self, number: int) -> int:
        """The sum over all ranks."""
        return sum(self.gather(number))

    def any(self, answer: bool) -> bool:
        return any(self.gather(answer))

    def gather(self, mine: T) -> list[T]:
        """What each rank has to say, in their order."""
        if not self.joined:
            return [mine]
        import torch
        import torch.distributed as dist

        with self.within_reach():
            if isinstance(mine, int):  # in every step: a number is told without being packed
                numbers = [torch.zeros((), dtype=torch.int64) for _ in range(self.world)]
                dist.all_gather(numbers, torch.tensor(int(mine)))
                return [type(mine)(int(number)) for number in numbers]
            told: list[Any] = [None] * self.world
            dist.all_gather_object(told, mine)
            return told

    def from_first(self, say: Callable[[], T]) -> T:
        """What rank 0 says; if it fails instead, it raises its error and the others stop without a word."""
        if not self.joined:
            return say()
        import torch.distributed as dist

        told: list[Any] = [None, None]
        if self.first:
            try:
                told[0] = say()
            except BaseException as error:
                self.tell_failure(error)
                raise
        with self.within_reach():
            dist.broadcast_object_list(told, src=0)
        return told[0]

    def from_each(self, do: Callable[[], T]) -> T:
        """What every rank does for itself. If some cannot, the first of them says why, and all stop."""
        if not self.joined:
            return do()
        done: list[T] = []
        try:
            done.append(do())
            error = None
        except GlassformerError as found:
            error = found
        for rank, theirs in enumerate(self.gather(error)):
            if theirs is not None:
                raise theirs if rank == self.rank else RankLostError("rank_failed", rank=rank, world=self.world, why="")
        return done[0]

    def wait(self) -> None:
        """Until all ranks are here."""
        self.gather(0)

    # --- long work of the first rank, and failures: told through the store of torchrun, where waiting has no limit ---

    def after_first(self, name: str, work: Callable[[], T]) -> T | None:
        """Rank 0 does the `work`, as long as it takes; the others wait until it is done, and get None."""
        if not self.joined:
            return work()
        assert self.store is not None
        if self.first:
            try:
                done = work()
            except BaseException as error:
                self.tell_failure(error)
                raise
            self.store.set(f"done/{name}", "")
            return done
        while not self._told(f"done/{name}"):
            self._stop_with_others()
            time.sleep(0.05)
        return None

    def when_all_have(self, name: str) -> None:
        """Until every rank has come so far, however long that takes it."""
        if self.store is None:
            return
        self.store.set(f"done/{name}/{self.rank}", "")
        while not all(self._told(f"done/{name}/{other}") for other in range(self.world)):
            self._stop_with_others()
            time.sleep(0.05)

    def tell_failure(self, error: BaseException) -> None:
        """So that the others can say why they stop."""
        if self.store is None or isinstance(error, RankLostError | SystemExit):
            return
        with suppress(Exception):
            self.store.set(f"failed/{self.rank}", str(error) or type(error).__name__)

    @contextmanager
    def within_reach(self) -> Iterator[None]:
        """Inside, an error of the network between ranks is one line that says which of them is gone."""
        try:
            yield
        except RuntimeError as error:
            if not self.joined or not of_network(error):
                raise
            raise self._lost(error) from error

    def _lost(self, error: RuntimeError) -> RankLostError:
        """What has become of another: it has failed or ended; else which of them do not miss anybody themselves."""
        self._tell(f"misses/{self.rank}", error)
        self._stop_with_others(LATEST_NEWS)
        here = [other for other in range(self.world) if self._told(f"misses/{other}")]
        if len(here) == self.world:
            return self._unreachable(error)
        silent = ", ".join(str(other) for other in range(self.world) if other not in here)
        return RankLostError("ranks_silent", rank=here[0], silent=silent, world=self.world, why=short_reason(error))

    def said_by_first(self, error: GlassformerError) -> bool:
        """Whether rank 0 fails with the same words: what all of them find out, it alone says."""
        assert self.store is not None
        until = time.monotonic() + LATEST_NEWS
        with suppress(RankLostError):  # rank 0 kept the store
            while not self._told("failed/0") and time.monotonic() < until:
                time.sleep(0.05)
            return self._told("failed/0") and self.store.get("failed/0").decode() == str(error)
        return False

    def _stop_with_others(self, patience: float = 0.0) -> None:
        """Raise if another rank has failed or has gone without a word; look out for it for so many seconds."""
        until = time.monotonic() + patience
        while True:
            for other in range(self.world):
                if other != self.rank and self._told(f"failed/{other}"):
                    assert self.store is not None
                    why = self.store.get(f"failed/{other}").decode()
                    raise RankLostError("rank_failed", rank=other, world=self.world, why=why)  # it says so itself
                if other != self.rank and self._is_gone(other):
                    raise RankLostError("rank_gone", rank=other, world=self.world)
            if time.monotonic() >= until:
                return
            time.sleep(0.05)

    def _is_gone(self, other: int) -> bool:
        """Whether a process of this machine has ended."""
        if self.store is None or not self._told(f"here/{other}"):
            return False
        machine, _, process = self.store.get(f"here/{other}").decode().rpartition(" ")
        return machine == os.uname().nodename and _has_ended(process)

    def _unreachable(self, error: RuntimeError) -> RankLostError:
        return RankLostError("rank_unreachable", rank=self.rank, world=self.world, why=short_reason(error))

    def _tell(self, key: str, error: RuntimeError) -> None:
        assert self.store is not None
        try:
            self.store.set(key, "")
        except RuntimeError:
            raise self._unreachable(error) from error

    def _told(self, key: str) -> bool:
        assert self.store is not None
        try:
            return bool(self.store.check([key]))
        except RuntimeError as error:  # the process that keeps the store has ended
            raise self._unreachable(error) from error


class RankLostError(RankError):
    """Another rank is gone, so this one stops: it failed, ended without a word, or is out of reach."""

    def __init__(self, key: str, /, **values: object) -> None:
        ENDING.set()
        super().__init__(key, **values)

    def is_said_by(self, rank: int) -> bool:
        """If another has ended, one speaks for all that are left; if it could still say why itself, none does."""
        if self.key == "rank_gone":
            return rank == (1 if self.values["rank"] == 0 else 0)
        return self.key == "rank_unreachable" or (self.key == "ranks_silent" and rank == self.values["rank"])


ALONE = Ranks()


def _has_ended(process: str) -> bool:
    """Whether a process of this machine has ended, also if nobody has asked for its status yet."""
    try:
        os.kill(int(process), 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except ProcessLookupError:
        return True
    except OSError:  # another user's, or a system without /proc
        return False


def of_network(error: RuntimeError) -> bool:
    """Whether an error of torch means that another rank cannot be reached."""
    marks = ("gloo", "Connection", "NCCL", "Timed out")
    return type(error).__name__.startswith("Dist") or any(mark in str(error) for mark in marks)


def short_reason(error: BaseException) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return (lines[0].partition("] ")[2] if lines[0].startswith("[") else lines[0]).rstrip(". ")
