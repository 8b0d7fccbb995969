"""How long a whole training takes: the command itself, `glassformer train RECIPE`, in a process of its own.

Counted apart: the start (imports, data, vocabulary), the first update, with compiling where the recipe compiles, and
everything from the first update to the last with evaluations, pictures and checkpoints. Before anything is timed, an
untimed process imports what any of them needs, so that no side reads the libraries from a cold disk for the others;
compiled code begins with an empty cache on each side. Where a validation loss is to be reached, the run is asked to
stop as soon as an evaluation has reached it, and nanoGPT's whole run (bench/nanogpt_run.py) is timed in the same way:
from its command, with start, compiling, evaluating and saving.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.bench.nanogpt_run import NanoGPTRun
from glassformer.bench.timing import need_accelerator
from glassformer.errors import InputError
from glassformer.runs import Run
from glassformer.words import say

PROGRAM = [sys.executable, "-m", "glassformer"]
NANOGPT = [sys.executable, "-m", "glassformer.bench.nanogpt_run"]
LIBRARIES = "glassformer.cli.train, glassformer.cli.progress, glassformer.training.watch, glassformer.bench.nanogpt_run"
COMPILER = "torch._dynamo, torch._inductor.compile_fx"
LOOK = 0.02  # seconds between two looks at the log


class TimedRecipe(NamedTuple):
    """A recipe; the validation loss that it is to reach, if that is timed too; nanoGPT's run to the same loss."""

    recipe: str
    loss: float | None = None
    nanogpt: NanoGPTRun | None = None


WHOLE_RUNS = {
    "multi30k-time": TimedRecipe("multi30k-en-de"),
    "shakespeare-char-time": TimedRecipe("shakespeare-char", loss=1.4697, nanogpt=NanoGPTRun()),
}


class Seen(NamedTuple):
    """An evaluation, and how many seconds after the command it was there."""

    step: int
    loss: float
    seconds: float


def run(name: str) -> dict[str, Any]:
    """The recipe as it is, alone on the accelerator, from the command to its end; then its peer."""
    need_accelerator(name)
    read_libraries()
    with tempfile.TemporaryDirectory() as place:
        return {"rows": measured(WHOLE_RUNS[name], Path(place))}


def measured(timed_recipe: TimedRecipe, place: Path, more: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Both sides with an empty cache of compiled code; ours, if it compiles, also with what it has left in its own."""
    rows = [timed(timed_recipe, place / "run", place / "cache", more)]
    if Run.open(place / "run").config.train.compile:
        rows.append(timed(timed_recipe, place / "again", place / "cache", more))
    if timed_recipe.nanogpt is not None and timed_recipe.loss is not None:
        peer = replace(timed_recipe.nanogpt, wanted=timed_recipe.loss)
        rows.append({"recipe": timed_recipe.recipe, **timed_nanogpt(peer, place / "nanogpt")})
    return rows


def read_libraries() -> None:
    """Have the files of all libraries in memory: which side runs first must not matter."""
    subprocess.run([sys.executable, "-c", f"import {LIBRARIES}, {COMPILER}"], check=True)


def with_cache(cache: Path) -> dict[str, str]:
    """The environment of a process that keeps what it compiles in a folder of its own."""
    return {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), "TRITON_CACHE_DIR": str(cache / "triton")}


# --- ours ---


def timed(timed_recipe: TimedRecipe, folder: Path, cache: Path, more: Sequence[str] = ()) -> dict[str, Any]:
    """Seconds of one run of the command, whose messages go to the terminal."""
    recipe, wanted, cached = timed_recipe.recipe, timed_recipe.loss, cache.exists()
    command = [*PROGRAM, "train", recipe, "--out", str(folder), "--json", *more]
    log, asked = LogWatch(folder / "log.jsonl"), False
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=with_cache(cache)) as child:
        try:
            while child.poll() is None:
                log.look(time.perf_counter() - began)
                if not asked and reached(log.evaluations, wanted) is not None:
                    asked = True
                    child.send_signal(signal.SIGINT)
                time.sleep(LOOK)
        except BaseException:
            child.terminate()
            raise
    whole = time.perf_counter() - began
    log.look(whole)
    if child.returncode and not (asked and child.returncode == 1):
        raise InputError("bench_command_failed", command=f"glassformer train {recipe}", code=child.returncode)
    status = Run.open(folder).status
    parts = {
        "steps": status["step"],
        "start": log.start,
        "first": status["first_step"],
        "updates": status["elapsed"] - status["first_step"],
        "whole": whole,
    }
    return {"recipe": recipe, "side": "glassformer", "cached": cached, **parts, **_met(log.evaluations, wanted)}


class LogWatch:
    """The log of a run that another process is writing: its evaluations with the time at which they were seen."""

    def __init__(self, path: Path) -> None:
        self.path, self.read = path, 0
        self.start: float | None = None  # seconds until training began
        self.step = 0  # of the last line on training
        self.evaluations: list[Seen] = []

    def look(self, now: float) -> None:
        """Read the lines that are new and whole."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as log:
            log.seek(self.read)
            new, end, _ = log.read().rpartition(b"\n")
        self.read += len(new) + len(end)
        for record in map(json.loads, new.splitlines()):
            if record["kind"] == "train":
                self.step = record["step"]
                self.start = now - record["elapsed"] if self.start is None else self.start
            if record["kind"] == "evaluation":
                self.evaluations.append(Seen(record["step"], record["loss"], now))


# --- nanoGPT ---


def timed_nanogpt(peer: NanoGPTRun, cache: Path) -> dict[str, Any]:
    """Seconds of its run; the evaluation before its first update counts as part of that."""
    command = [*NANOGPT, peer.to_json()]
    evaluations, when = [], dict[str, float]()
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=with_cache(cache)) as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                now, record = time.perf_counter() - began, json.loads(line)
                if record["kind"] == "evaluation":
                    evaluations.append(Seen(record["step"], record["loss"], now))
                else:
                    when[record["kind"]] = now
        except BaseException:
            child.terminate()
            raise
    whole = time.perf_counter() - began
    if child.returncode:
        raise InputError("bench_command_failed", command=" ".join(command[1:3]), code=child.returncode)
    parts = {
        "steps": evaluations[-1].step,
        "start": when["ready"],
        "first": when["first"] - when["ready"],
        "updates": evaluations[-1].seconds - when["first"],
        "whole": whole,
    }
    return {"side": "nanogpt", "cached": False, **parts, **_met(evaluations, peer.wanted)}


# --- the loss that is to be reached ---


def reached(evaluations: Sequence[Seen], wanted: float | None) -> Seen | None:
    """The first evaluation whose loss is as low as wanted."""
    return None if wanted is None else next((seen for seen in evaluations if seen.loss <= wanted), None)


def _met(evaluations: Sequence[Seen], wanted: float | None) -> dict[str, Any]:
    found = reached(evaluations, wanted)
    return {
        "wanted": wanted,
        "reached": None if found is None else found._asdict(),
        "evaluations": [seen._asdict() for seen in evaluations],
    }


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Seconds; the loss that was to be reached, else the lowest, each with the time from the command."""
    titles = ("recipe", "side", "cache", "start", "first_update", "updates", "first_to_last", "whole", "reached")
    lines = [[say(f"columns.whole_run.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        about = [row["recipe"], say(f"bench.peers.{row['side']}", lang)]
        about.append(say("bench.cache_filled" if row["cached"] else "bench.cache_new", lang))
        start, first, updates, whole = (f"{row[key]:.1f} s" for key in ("start", "first", "updates", "whole"))
        lines.append([*about, start, first, f"{row['steps']:,}", updates, whole, _said_reached(row, lang)])
    return lines


def _said_reached(row: Mapping[str, Any], lang: str) -> str:
    if row["wanted"] is None:
        return "–"
    lowest = min(row["evaluations"], key=lambda seen: seen["loss"])
    seen = row["reached"] or lowest
    values = {"step": f"{seen['step']:,}", "seconds": f"{seen['seconds']:.1f}", "loss": f"{seen['loss']:.4f}"}
    return say("bench.reached" if row["reached"] else "bench.not_reached", lang, wanted=row["wanted"], **values)
