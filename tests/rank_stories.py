"""What several ranks tell each other, and what they say when one fails: stories of forked processes, told as JSON."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from glassformer.errors import FileError, GlassformerError
from glassformer.ranks import LATEST_NEWS, Ranks
from glassformer.runs.shards import write_shards
from glassformer.torchrun import TIMEOUT, ranks_here
from pairs import free_port


def told(ranks: Ranks) -> dict[str, Any]:
    return {
        "rank": [ranks.rank, ranks.world, ranks.first, ranks.joined],
        "sum": ranks.sum(10 + ranks.rank),
        "any": [ranks.any(ranks.rank == 1), ranks.any(False)],
        "gathered": ranks.gather({"of": ranks.rank}),
        "first": ranks.from_first(lambda: f"rank {ranks.rank}"),
        "each": ranks.from_each(lambda: ranks.rank * 2),
        "share": ranks.share_of(6),
    }


def waited(ranks: Ranks) -> dict[str, Any]:
    """The first works longer than ranks wait for each other."""
    begun = time.monotonic()
    made = ranks.after_first("work", lambda: time.sleep(2.5) or "made")
    ranks.when_all_have("waited")
    return {"made": made, "long": time.monotonic() - begun > 2.4}


def first_fails(ranks: Ranks) -> Any:
    def fail() -> str:
        raise FileError("no_such_file", path="data.tsv")

    return ranks.after_first("work", fail)


def second_fails(ranks: Ranks) -> Any:
    if ranks.rank == 1:
        raise FileError("no_such_file", path="data.tsv")
    return [ranks.sum(1) for _ in range(100)]


def second_cannot(ranks: Ranks) -> Any:
    def do() -> int:
        if ranks.rank == 1:
            raise FileError("no_such_file", path="data.tsv")
        return 1

    return ranks.from_each(do)


def second_is_killed(ranks: Ranks) -> Any:
    ranks.wait()
    if ranks.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return [ranks.sum(1) for _ in range(100)]


def first_is_killed(ranks: Ranks) -> Any:
    ranks.wait()
    if ranks.rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return [ranks.sum(1) for _ in range(100)]


def both_find(ranks: Ranks) -> Any:
    """What every rank finds out for itself, as of a checkpoint that all of them read."""
    ranks.wait()
    raise FileError("no_such_file", path="data.tsv")


def second_is_silent(ranks: Ranks) -> Any:
    """It is alive, but nothing comes from it any more."""
    ranks.wait()
    if ranks.rank == 1:
        time.sleep(2.0 + LATEST_NEWS + 3.0)
        os._exit(0)
    return ranks.sum(1)


def second_is_killed_in_a_save(ranks: Ranks) -> Any:
    ranks.wait()
    if ranks.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with tempfile.TemporaryDirectory() as folder, ranks.within_reach():
        write_shards(Path(folder), {"model": {"weight": torch.zeros(3)}})


def outcome(story: Callable[[Ranks], Any]) -> dict[str, Any]:
    """What a rank ends with: its answer, its line, or nothing at all."""
    try:
        with ranks_here() as ranks:
            return {"answer": story(ranks)}
    except GlassformerError as error:
        return {"line": str(error), "korean": error.in_language("ko")}
    except SystemExit as error:
        return {"silent": error.code}


def play(story: Callable[[Ranks], Any], folder: Path, here: tuple[int, ...] = (0, 1), world: int = 2) -> list[Any]:
    """The outcomes of the ranks that are here; None for one that was killed."""
    port, children = free_port(), []
    folder.mkdir()
    for rank in here:
        child = os.fork()
        if child == 0:
            given = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "MASTER_PORT": port}
            os.environ |= {"MASTER_ADDR": "127.0.0.1", **{name: str(value) for name, value in given.items()}}
            try:
                faulthandler.dump_traceback_later(30)
                (folder / f"{rank}.json").write_text(json.dumps(outcome(story)))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    files = [folder / f"{rank}.json" for rank in here]
    return [json.loads(file.read_text()) if file.exists() else None for file in files]


STORIES = (
    told,
    waited,
    first_fails,
    second_fails,
    second_cannot,
    both_find,
    second_is_killed,
    second_is_killed_in_a_save,
    second_is_silent,
    first_is_killed,
)


def main(folder: Path) -> None:
    os.environ[TIMEOUT] = "2"
    found = {story.__name__: play(story, folder / story.__name__) for story in STORIES}
    found["nobody_else"] = play(told, folder / "nobody-else", here=(0,))
    found["no_first"] = play(told, folder / "no-first", here=(1,))
    found["alone"] = play(told, folder / "alone", here=(0,), world=1)
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
