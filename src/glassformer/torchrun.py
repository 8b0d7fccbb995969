"""How processes that torchrun has started find each other: what it tells them, the store where they meet, the end."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import count
from types import FrameType
from typing import TYPE_CHECKING, Any

from glassformer.errors import GlassformerError, RankError, reason
from glassformer.ranks import ALONE, ENDING, RankLostError, Ranks, short_reason

if TYPE_CHECKING:
    from torch.distributed.distributed_c10d import Store

TIMEOUT = "GLASSFORMER_RANK_TIMEOUT"  # seconds that ranks wait for each other
WAITED = 600.0
GIVEN_BY_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
_MEETINGS = count()  # of this process: what was said at one is not heard at the next


def hush() -> None:
    """Before torch is loaded: one line says that a rank is gone, not also a page of addresses in C++."""
    if under_torchrun():
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")


def under_torchrun(environment: Mapping[str, str] = os.environ) -> bool:
    return all(name in environment for name in GIVEN_BY_TORCHRUN)


@contextmanager
def ranks_here(*, always: bool = False) -> Iterator[Ranks]:
    """Inside, the ranks that torchrun has started know each other. `always`: also if there is only one.

    A process that torchrun has not started is alone.
    """
    if not under_torchrun() or (_given("WORLD_SIZE") == 1 and not always):
        yield ALONE
        return
    import torch
    import torch.distributed as dist

    rank, world, local = map(_given, ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    if rank >= world:
        raise RankError("rank_given", name="RANK", value=str(rank))
    here = _given("LOCAL_WORLD_SIZE") if "LOCAL_WORLD_SIZE" in os.environ else world
    on_accelerators = 0 < here <= torch.cuda.device_count()
    if on_accelerators:
        torch.cuda.set_device(local)
    backend = "cpu:gloo,cuda:nccl" if on_accelerators else "gloo"
    patience = timedelta(seconds=_timeout())
    ranks = Ranks(rank, world, local, _meeting(rank, world, patience))
    dist.init_process_group(backend, store=ranks.store, rank=rank, world_size=world, timeout=patience)
    ENDING.clear()
    before = _patiently_ended()
    try:
        yield ranks
    except RankLostError as error:
        if error.is_said_by(rank):
            raise
        raise SystemExit(1) from error
    except GlassformerError as error:
        ENDING.set()
        ranks.tell_failure(error)
        if ranks.first:
            raise
        if ranks.said_by_first(error):
            raise SystemExit(1) from error
        raise RankError("rank_failed", rank=rank, world=world, why=reason(error)) from error
    except BaseException as error:
        ranks.tell_failure(error)
        raise
    finally:
        failed = ENDING.is_set()
        ENDING.set()  # a signal must not break into what follows
        gc.collect()  # what still holds the group would end it while the process ends, and abort
        with suppress(Exception):  # after another rank is gone, saying goodbye fails too
            dist.destroy_process_group()
        if before is not None and not failed:
            signal.signal(signal.SIGTERM, before)


def _given(name: str) -> int:
    """A number from torchrun, or from whoever starts processes in its place."""
    value = os.environ[name]
    if value.isascii() and value.isdigit():
        return int(value)
    raise RankError("rank_given", name=name, value=value)


def _patiently_ended() -> Any:
    """torchrun sends SIGTERM to all as soon as one has ended: who is about to say why may finish. Returns how that
    signal was handled before; None outside the main thread, which cannot listen."""
    if threading.current_thread() is not threading.main_thread():
        return None

    def end(number: int, frame: FrameType | None) -> None:
        if not ENDING.is_set():
            raise SystemExit(128 + number)

    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, end)
    return before


def _meeting(rank: int, world: int, patience: timedelta) -> Store:
    """The store where the ranks meet. Raises if it cannot be reached, or names the ranks that have not come."""
    from torch.distributed.distributed_c10d import PrefixStore

    address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    try:
        found = _store_of_torchrun(rank, world, patience)
        attempt = f"{os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}.{next(_MEETINGS)}"
        store: Store = PrefixStore(f"glassformer/{attempt}", found)
        store.set(f"here/{rank}", f"{os.uname().nodename} {os.getpid()}")
    except (RuntimeError, ValueError) as error:
        raise RankError("rank_no_meeting", rank=rank, world=world, address=address, why=short_reason(error)) from error
    until = time.monotonic() + patience.total_seconds()
    while missing := [other for other in range(world) if not store.check([f"here/{other}"])]:
        if time.monotonic() > until:
            names, seconds = ", ".join(map(str, missing)), f"{patience.total_seconds():g}"
            raise RankError("ranks_missing", rank=rank, missing=names, world=world, seconds=seconds)
        time.sleep(0.02)
    return store


def _store_of_torchrun(rank: int, world: int, patience: timedelta) -> Store:
    """The one that torchrun keeps or, where it keeps none, rank 0 does."""
    from torch._C._distributed_c10d import TCPStore

    kept = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    place = os.environ["MASTER_ADDR"], _given("MASTER_PORT")
    return TCPStore(*place, world, rank == 0 and not kept, patience, wait_for_workers=False)


def _timeout() -> float:
    given = os.environ.get(TIMEOUT, "")
    try:
        seconds = float(given or WAITED)
    except ValueError:
        seconds = -1.0
    if 0 < seconds < float("inf"):
        return seconds
    raise RankError("rank_timeout", name=TIMEOUT, value=given)
