"""What the recipes reach on real data: trained from the command, seeds side by side, and tested once at the end.

Each seed is what a person would type: `glassformer train RECIPE --seed N`, then `glassformer evaluate RUN`. The best
checkpoint is chosen by validation, and each run counts how often its test part was read.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.bench.tasks import BITS, ERROR, SHARE, WRITTEN, at
from glassformer.bench.timing import device_here, need_accelerator
from glassformer.errors import InputError
from glassformer.words import say

PROGRAM = [sys.executable, "-m", "glassformer"]
SEEDS = (0, 1, 2)
AT_ONCE = 6  # processes that share the accelerator
ALONE = ("--set", "train.threads=1")  # on a CPU each run has a core to itself
POINTS, NATS = "points", "nats"
FORMS = {**WRITTEN, POINTS: lambda x: f"{x:.2f}", NATS: lambda x: f"{x:.4f}"}


class RealNumber(NamedTuple):
    """A number of an evaluation: its name (a key of [reached], then codes), where it stands, its form, its rivals."""

    name: str
    path: str
    form: str
    rivals: Mapping[str, str] = {}  # where they stand → the sentence that names them


class Reading(NamedTuple):
    """One evaluation of a run: what is added to `glassformer evaluate RUN`, and the numbers that are kept."""

    words: tuple[str, ...]
    numbers: tuple[RealNumber, ...]


class RealRun(NamedTuple):
    """A recipe with changes; how its run is read; the recipe of the run whose weights it starts from."""

    recipe: str
    readings: tuple[Reading, ...]
    changes: tuple[str, ...] = ()
    after: str = ""

    @property
    def numbers(self) -> Iterator[RealNumber]:
        return (number for reading in self.readings for number in reading.numbers)


def _bleu(*groups: str) -> tuple[Reading, ...]:
    """BLEU of each test set, with beam 5 and the length norm of this literature."""
    search = ("--split", "test", "--beam", "5", "--length-norm", "power", "--length-penalty", "1.0")
    return (Reading(search, tuple(RealNumber(f"bleu {group}", f"groups.{group}.bleu", POINTS) for group in groups)),)


def _letters(checkpoint: str) -> Reading:
    """The last tenth of the text chooses the best checkpoint, so it is a validation set."""
    rival = {"n_gram.bits_per_character": "beside.characters"}
    numbers = (
        RealNumber(f"loss_in_windows {checkpoint}", "loss_in_windows", NATS),
        RealNumber(f"bits_per_character {checkpoint}", "bits_per_character", BITS, rival),
    )
    return Reading(("--split", "validation", "--checkpoint", checkpoint), numbers)


TEST, VALIDATION = ("--split", "test"), ("--split", "validation")
MULTI30K = _bleu(*(f"multi30k {name}" for name in ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")))
KOREAN = _bleu("tatoeba-kor-eng", "kor-eng-pydocs", "korean-english-school test")
ACCURACY = (Reading(TEST, (RealNumber("accuracy", "accuracy", SHARE, {"majority": "beside.nsmc"}),)),)
LINEAR = {f"beside.{name}.mse": f"forecast.short.{name}" for name in ("dlinear", "nlinear")}
ERRORS = (RealNumber("mse", "mse", ERROR, LINEAR), RealNumber("dropped", "dropped.errors.mse", ERROR))
FORECAST = (Reading(TEST, ERRORS),)
LOSS = (Reading(VALIDATION, (RealNumber("loss", "loss", NATS),)),)

REAL: dict[str, tuple[RealRun, ...]] = {
    "real-multi30k": tuple(RealRun(recipe, MULTI30K) for recipe in ("multi30k-en-de", "multi30k-en-de-cased")),
    "real-korean": tuple(RealRun(recipe, KOREAN) for recipe in ("tatoeba-pydocs-ko-en", "tatoeba-pydocs-en-ko")),
    "real-letters": (RealRun("shakespeare-char", (_letters("last"), _letters("best"))),),
    "real-sentiment": (RealRun("nsmc", ACCURACY), RealRun("nsmc-pretrained", ACCURACY, after="nsmc-masked")),
    "real-images": (RealRun("fashion-mnist", ACCURACY),),
    "real-series": tuple(
        RealRun("etth1-96", FORECAST, changes=(f"model.head.outputs={horizon}",)) for horizon in (96, 192, 336, 720)
    ),
    "real-budget": tuple(RealRun(recipe, LOSS) for recipe in ("budget-3100", "budget-3100-plain")),
}
SMALL = ("real-series",)  # a core of a CPU trains each of these in a minute or two


def run(name: str) -> dict[str, Any]:
    """Every run of the group with every seed."""
    if name not in SMALL:
        need_accelerator(name)
    with tempfile.TemporaryDirectory() as place:
        if device_here() == "cuda":
            return {"rows": measured(REAL[name], Path(place))}
        return {"rows": measured(REAL[name], Path(place), more=ALONE, at_once=len(os.sched_getaffinity(0)))}


def measured(
    runs: Sequence[RealRun],
    place: Path,
    seeds: Sequence[int] = SEEDS,
    more: Sequence[str] = (),
    at_once: int = AT_ONCE,
) -> list[Any]:
    """A row for each run and seed, in this order, however they took turns; `more` is added to every training."""
    with ThreadPoolExecutor(at_once) as threads:
        rows = [
            threads.submit(reached, one, seed, place / f"{number}-{seed}", more)
            for number, one in enumerate(runs)
            for seed in seeds
        ]
        return [row.result() for row in rows]


def reached(one: RealRun, seed: int, folder: Path, more: Sequence[str] = ()) -> dict[str, Any]:
    """Train one seed, after the run that it starts from, and read its scores."""
    began, every = time.perf_counter(), ("--seed", str(seed), *more)
    changes = [word for change in one.changes for word in ("--set", change)]
    if one.after:
        _command("train", one.after, "--out", str(folder / "before"), *every)
        changes += ["--set", f"train.start={folder / 'before'}"]
    last = _command("train", one.recipe, "--out", str(folder / "run"), *every, *changes)
    seconds = time.perf_counter() - began
    values: dict[str, float] = {}
    beside: dict[str, float] = {}
    read: dict[str, int] = {}  # how often the run has read each split by then, as it says itself
    for reading in one.readings:
        found = _command("evaluate", str(folder / "run"), *reading.words)
        values |= {each.name: at(found, each.path) for each in reading.numbers}
        beside |= {path: at(found, path) for each in reading.numbers for path in each.rivals}
        read[found["split"]] = found["readings"]
    about = {"recipe": one.recipe, "changes": list(one.changes), "after": one.after, "seed": seed}
    trained = {"steps": last["step"], "best": last.get("best"), "seconds": seconds}
    return about | trained | {"values": values, "beside": beside, "readings": read}


def _command(*words: str) -> dict[str, Any]:
    """What a command prints with --json."""
    done = subprocess.run([*PROGRAM, *words, "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise InputError("bench_command_failed", command=f"glassformer {' '.join(words)}", code=done.returncode)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table(numbers: Mapping[str, Any], lang: str, *, name: str) -> list[list[str]]:
    """A line for each number of each run: every seed, their mean, and what stands beside it."""
    lines = [[say(f"columns.{key}", lang) for key in ("recipe", "task_result", "seeds", "mean", "beside")]]
    for one in REAL[name]:
        of_it = (one.recipe, list(one.changes))
        rows = [row for row in numbers["rows"] if (row["recipe"], row["changes"]) == of_it]
        for each in one.numbers:
            write, values = FORMS[each.form], [row["values"][each.name] for row in rows]
            about = [" ".join([one.recipe, *one.changes]), _said(each.name, lang)]
            rivals = [
                f"{write(statistics.mean(row['beside'][path] for row in rows))} {say(sentence, lang)}"
                for path, sentence in each.rivals.items()
            ]
            seeds = " · ".join(map(write, values))
            lines.append([*about, seeds, write(statistics.mean(values)), " · ".join(rivals) or "–"])
    return lines


def _said(name: str, lang: str) -> str:
    """ "bleu multi30k test_2016_flickr": the kind in words, then the rest as it is."""
    kind, _, rest = name.partition(" ")
    return f"{say(f'reached.{kind}', lang)} {rest}".strip()
