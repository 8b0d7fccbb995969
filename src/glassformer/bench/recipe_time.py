"""How long a whole training takes: the command itself, `glassformer train RECIPE`, in a process of its own.

Counted apart: the start (imports, data, vocabulary), the first update, which is mostly compiling, and everything from
the first update to the last with evaluations, pictures and checkpoints.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.bench.gpt_step import STEPS, nanogpt
from glassformer.bench.our_step import FIRST_CALLS
from glassformer.bench.timing import MATMUL, interleaved, need_accelerator, summary, warmed
from glassformer.errors import InputError
from glassformer.runs import Run
from glassformer.training.precision import matmul_precision
from glassformer.words import say

PROGRAM = [sys.executable, "-m", "glassformer"]
LOOK = 0.02  # seconds between two looks at the log


class TimedRecipe(NamedTuple):
    """A recipe; the validation loss that it is to reach, if that is timed too; the step of nanoGPT that would."""

    recipe: str
    loss: float | None = None
    nanogpt: str | None = None


WHOLE_RUNS = {
    "multi30k-time": TimedRecipe("multi30k-en-de"),
    "shakespeare-char-time": TimedRecipe("shakespeare-char", loss=1.4697, nanogpt="shakespeare-char"),
}


def run(name: str) -> dict[str, Any]:
    """The recipe as it is, alone on the accelerator, from the command to its end."""
    need_accelerator(name)
    timed_recipe = WHOLE_RUNS[name]
    with tempfile.TemporaryDirectory() as place:
        row = timed(timed_recipe, Path(place) / "run")
    if timed_recipe.nanogpt is not None:
        row["nanogpt_step"] = _nanogpt_step(timed_recipe.nanogpt)
    return {"rows": [row]}


def timed(timed_recipe: TimedRecipe, folder: Path, more: Sequence[str] = ()) -> dict[str, Any]:
    """Seconds of one run of the command, whose messages go to the terminal."""
    recipe, wanted = timed_recipe.recipe, timed_recipe.loss
    command = [*PROGRAM, "train", recipe, "--out", str(folder), "--json", *more]
    began, reached = time.perf_counter(), None
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        try:
            while child.poll() is None:
                if wanted is not None and reached is None:
                    reached = reached_in(folder / "log.jsonl", wanted, time.perf_counter() - began)
                time.sleep(LOOK)
        except BaseException:
            child.terminate()
            raise
    whole = time.perf_counter() - began
    if child.returncode:
        raise InputError("bench_command_failed", command=f"glassformer train {recipe}", code=child.returncode)
    status = Run.open(folder).status
    return {
        "recipe": recipe,
        "steps": status["step"],
        "start": whole - status["elapsed"],
        "first": status["first_step"],
        "updates": status["elapsed"] - status["first_step"],
        "whole": whole,
        "wanted": wanted,
        "reached": reached,
    }


def reached_in(log: Path, wanted: float, seconds: float) -> dict[str, float] | None:
    """The first evaluation in a log whose loss is as low as wanted; `seconds` is the time of this look."""
    if not log.is_file():
        return None
    *lines, _ = log.read_text(encoding="utf-8").split("\n")  # the last may be half written
    for line in lines:
        record: Mapping[str, Any] = json.loads(line)
        if record["kind"] == "evaluation" and record["loss"] <= wanted:
            return {"step": record["step"], "seconds": seconds, "loss": record["loss"]}
    return None


def _nanogpt_step(name: str) -> dict[str, float]:
    """The step of the rebuilt nanoGPT on the same machine, compiled."""
    with matmul_precision(MATMUL["cuda"]):
        step, _ = warmed(lambda: nanogpt(STEPS[name], "cuda"), calls=FIRST_CALLS, device="cuda")
        return summary(interleaved({name: step}, rounds=STEPS[name].rounds, device="cuda")[name])


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Seconds; of nanoGPT only its updates up to the same step, without start, compiling and evaluations."""
    titles = ("recipe", "updates", "first_to_last", "first_update", "start", "whole", "reached", "nanogpt")
    lines = [[say(f"columns.whole_run.{key}", lang) for key in titles]]
    for row in numbers["rows"]:
        parts = [f"{row[key]:.1f} s" for key in ("updates", "first", "start", "whole")]
        lines.append([row["recipe"], f"{row['steps']:,}", *parts, _said_reached(row, lang), _said_nanogpt(row)])
    return lines


def _said_reached(row: Mapping[str, Any], lang: str) -> str:
    if row["wanted"] is None:
        return "–"
    if row["reached"] is None:
        return say("bench.not_reached", lang, loss=row["wanted"])
    values = {"step": f"{row['reached']['step']:,}", "seconds": f"{row['reached']['seconds']:.1f}"}
    return say("bench.reached", lang, loss=row["wanted"], **values)


def _said_nanogpt(row: Mapping[str, Any]) -> str:
    if row["reached"] is None or "nanogpt_step" not in row:
        return "–"
    return f"{row['reached']['step'] * row['nanogpt_step']['median']:.1f} s"
