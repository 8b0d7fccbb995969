"""Large data in the cache: `data prepare RECIPE`, `data cache`, and how far a preparation has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from glassformer.cli.output import print_json, print_rich
from glassformer.errors import UsageError
from glassformer.show import Column, Table
from glassformer.words import say

Write = Callable[[str], None]
LEAST = 2.0  # seconds before the first line, so that a small set says nothing
BETWEEN = 10.0  # seconds between two lines where no line can be written over


def prepare_recipe(recipe: str, json: bool) -> int:
    """Everything that a training of this recipe would begin with, and no training."""
    from glassformer.data.prepared import every_prepared, home
    from glassformer.runs.paths import absolute
    from glassformer.tasks import kind_of
    from glassformer.tasks.own import open_recipe_or_data
    from glassformer.training.begin import ready

    if not recipe:
        raise UsageError("prepare_no_recipe")
    config = absolute(open_recipe_or_data(recipe, {}))
    ready(config)
    with shown_preparation(quiet=json):
        material = kind_of(config).task.begin(config)
    lengths = material.training.lengths
    found = {
        "recipe": recipe,
        "examples": len(material.training),
        "tokens": int(lengths.sum()),
        "vocab_size": material.config.model.vocab_size,
        "folder": str(home()) if every_prepared() else None,
    }
    if json:
        print_json(found)
        return 0
    counts = {name: f"{found[name]:,}" for name in ("examples", "tokens")}
    print_rich(say("prepared.ready", recipe=recipe, vocabulary=f"{found['vocab_size']:,}", **counts))
    where = say("prepared.cached", folder=home()) if every_prepared() else say("prepared.memory")
    print_rich(where)
    return 0


def show_cache(action: str, json: bool) -> int:
    """What lies in the cache; `clear` removes it."""
    from glassformer.data.prepared import clear, every_prepared, home

    if action not in ("", "clear"):
        raise UsageError("usage_extra", command="data cache", given=action, expected="glassformer data cache [clear]")
    if action:
        freed = clear()
        print_json({"cleared": freed}) if json else print_rich(say("prepared.cleared", size=in_bytes(freed)))
        return 0
    every = every_prepared()
    total = sum(each.bytes for each in every)
    if json:
        rows = [{"kind": e.kind, "folder": str(e.path), "bytes": e.bytes, "whole": e.whole} for e in every]
        print_json({"folder": str(home()), "bytes": total, "prepared": rows})
        return 0
    if not every:
        print_rich(say("prepared.empty", folder=home()))
        return 0
    table = Table(
        Column(say("prepared.kind")),
        Column(say("prepared.folder"), "name"),
        Column(say("prepared.size"), "number"),
        Column(say("prepared.state")),
    )
    for each in every:
        state = say("prepared.whole" if each.whole else "prepared.draft")
        table.add(say(f"prepared.kinds.{each.kind}"), each.path.name, in_bytes(each.bytes), state)
    print_rich(table, say("prepared.total", size=in_bytes(total), folder=home()))
    return 0


def in_bytes(count: int) -> str:
    """Bytes in the largest unit that leaves a digit before the point: 1.3 GB."""
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


@contextmanager
def shown_preparation(*, quiet: bool = False, write: Write | None = None) -> Iterator[None]:
    """How far it has come, by `write`; else a line that is written over on a terminal, or one now and then elsewhere.

    Nothing is shown of small data.
    """
    from glassformer.data.watching import watched

    if quiet:
        yield
        return
    over = write is None and sys.stderr.isatty()
    with watched(Now(write or (_over if over else _below), BETWEEN if write is None and not over else LEAST / 4)):
        try:
            yield
        finally:
            if over:
                _over("")


@dataclass
class Now:
    """Writes what is being done, each time that it changes and else every so many seconds."""

    write: Write
    between: float
    began: float = field(default_factory=lambda: time.monotonic())
    last: float = 0.0
    before: str = ""

    def __call__(self, doing: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self.began < LEAST or (doing == self.before and now - self.last < self.between):
            return
        self.last, self.before = now, doing
        text = say(f"prepared.doing.{doing}")
        if total is not None:
            text = say("prepared.counted_of", doing=text, done=f"{done:,}", total=f"{total:,}")
        elif done:
            text = say("prepared.counted", doing=text, done=f"{done:,}")
        self.write(text)


def _over(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


def _below(text: str) -> None:
    sys.stderr.write(f"{text}\n")
