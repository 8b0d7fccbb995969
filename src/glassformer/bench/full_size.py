"""The paper's base recipe on a corpus of WMT14's size: prepared, trained for 200 steps, killed and resumed.

All are the commands that a person types, in processes of their own, on an accelerator. The training that is timed is
compiled, as the recipe's 100,000 steps would be; those that are compared use only kernels that give the same bits every
time (train.deterministic), and are not compiled: one in a single piece, one that is killed and resumed, and one rank of
torchrun, by DDP and by FSDP, whose collectives are then those of the accelerator (NCCL).
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from glassformer.bench.recipe_time import LOOK, LogWatch
from glassformer.bench.stand_in import write_stand_in
from glassformer.bench.timing import need_accelerator
from glassformer.bench.tree_memory import watched_command
from glassformer.config.recipe import RunConfig
from glassformer.errors import InputError
from glassformer.files import write_text
from glassformer.ledger.reached import recorded_steps
from glassformer.loading import open_recipe
from glassformer.runs import Run
from glassformer.runs.manifest import sha256
from glassformer.runs.weights import WEIGHTS_FILE
from glassformer.words import say

RECIPE, PAIRS, VALIDATION = "wmt14-base", 4_500_000, 1_000
MOST = "GLASSFORMER_FULL_SIZE"  # so many pairs instead
STEPS, LOGGED, SAVED, KILLED, RANKED = 200, 10, 50, 120, 60
WARM = 50  # steps that are not timed
ALONE = [sys.executable, "-m", "glassformer"]
ONE_RANK = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", "-m", "glassformer"]
SAME = ("step", "loss", "gradient_norm", "tokens")  # of a line of the log
WAYS = ("ddp", "fsdp")


def run() -> dict[str, Any]:
    need_accelerator("full-size")
    pairs = int(os.environ.get(MOST, "0")) or PAIRS
    with tempfile.TemporaryDirectory(prefix="glassformer-full-size-") as folder:
        return measured(Path(folder), pairs, timed=("train.compile=true",))


def measured(
    folder: Path, pairs: int, changes: Mapping[str, Any] | None = None, timed: Sequence[str] = ()
) -> dict[str, Any]:
    """One command after another; `changes` to the recipe, and `timed` to the training that is timed."""
    began = time.perf_counter()
    files = write_stand_in(folder, pairs)
    written = time.perf_counter() - began
    recipe = folder / "full-size.toml"
    write_text(recipe, on_files(files, changes or {}).to_toml())
    environment = {**os.environ, "GLASSFORMER_CACHE": str(folder / "cache"), "GLASSFORMER_LANG": "en"}
    prepared = watched_command(["data", "prepare", str(recipe)], environment)
    training = Trainings(recipe, folder, environment)
    whole = training.run("timed", timed)
    exact = ("train.deterministic=true", f"train.save_every={SAVED}")
    training.run("exact", exact)
    killed_at = training.run("killed", exact, kill=True)["step"]
    resumed = training.run("killed", exact, resume=True)
    single, killed = training.folder_of("exact"), training.folder_of("killed")
    ranks = {}
    for way in WAYS:
        short = (*exact, f"train.steps={RANKED}", f"train.parallel={way}")
        training.run(way, short, program=ONE_RANK)
        ranks[way] = {**speed(training.folder_of(way)), "difference": difference(single, training.folder_of(way))}
    return {
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else "",
        "cores": len(os.sched_getaffinity(0)),
        "pairs": pairs,
        "read": sum(path.stat().st_size for path in files),
        "written": written,
        "prepare": asdict(prepared),
        "timed": {**whole, **speed(training.folder_of("timed"))},
        "exact": speed(single),
        "killed": {"at": killed_at, "whole": resumed["whole"], **compared(single, killed)},
        "ranks": ranks,
    }


def on_files(files: Sequence[Path], changes: Mapping[str, Any]) -> RunConfig:
    """The recipe as it is, but for its data, its length, and the lines of its log."""
    source = {"kind": "files", "train": [str(path) for path in files]}
    wanted = {"data.source": source, "data.validation": VALIDATION, "train.steps": STEPS, "train.log_every": LOGGED}
    return open_recipe(RECIPE, {**wanted, **changes})


class Trainings:
    """Trainings of one recipe, each in a folder of its own."""

    def __init__(self, recipe: Path, place: Path, environment: Mapping[str, str]) -> None:
        self.recipe, self.place, self.environment = recipe, place, dict(environment)

    def folder_of(self, name: str) -> Run:
        return Run(self.place / name)

    def run(
        self,
        name: str,
        keys: Sequence[str],
        *,
        resume: bool = False,
        kill: bool = False,
        program: Sequence[str] = ALONE,
    ) -> dict[str, Any]:
        """Seconds from the command to the start of training and to its end; `kill`: in the middle, by SIGKILL."""
        out = self.place / name
        words = ["train", str(self.recipe), "--out", str(out), "--json", *(["--resume"] if resume else [])]
        command = [*program, *words, *(word for key in keys for word in ("--set", key))]
        log, asked = LogWatch(out / "log.jsonl"), False
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=self.environment) as child:
            while child.poll() is None:
                if not resume:  # it cuts the log first
                    log.look(time.perf_counter() - began)
                if kill and not asked and log.step >= KILLED:
                    child.kill()
                    asked = True
                time.sleep(LOOK)
        whole = time.perf_counter() - began
        if child.returncode != (-signal.SIGKILL if kill else 0):
            raise InputError("bench_command_failed", command=" ".join(command[1:]), code=child.returncode)
        first = self.folder_of(name).status.get("first_step")
        return {"start": log.start, "first": first, "step": log.step, "whole": whole}


# --- what the runs say ---


def lines_of(run: Run) -> list[dict[str, Any]]:
    """The lines on training."""
    return [line for line in run.log.read() if line["kind"] == "train"]


def speed(run: Run) -> dict[str, Any]:
    """Target tokens a second after the first steps, and the share of the time in which the accelerator had to wait."""
    warm = [line for line in lines_of(run) if line["step"] > WARM] or lines_of(run)
    waited = [line["waiting"] for line in warm if line.get("waiting") is not None]
    return {
        "tokens_per_second": statistics.median(line["tokens_per_second"] for line in warm),
        "waiting": statistics.median(waited) if waited else None,
        "peak": run.status.get("peak_memory"),
    }


def compared(one: Run, other: Run) -> dict[str, Any]:
    """How many lines of the log are the same, number for number, and whether the last weights are."""
    ours, theirs = ([[line[key] for key in SAME] for line in lines_of(run)] for run in (one, other))
    assert one.last is not None and other.last is not None
    return {
        "lines": len(ours),
        "equal": sum(a == b for a, b in zip(ours, theirs, strict=False)),
        "weights": sha256(one.last / WEIGHTS_FILE) == sha256(other.last / WEIGHTS_FILE),
    }


def difference(one: Run, other: Run) -> float:
    """The largest difference of a loss at the same step, as a share of it."""
    losses = {line["step"]: line["loss"] for line in lines_of(one)}
    return max(abs(line["loss"] / losses[line["step"]] - 1) for line in lines_of(other))


def of_the_bench(accelerator: str) -> float | None:
    """Target tokens a second of the recorded training-step on such an accelerator; None: there is no record."""
    steps = (step for step in recorded_steps() if (step.bench, step.accelerator) == ("training-step", accelerator))
    return next((step.tokens / 2 / step.seconds for step in steps), None)


def table(numbers: Mapping[str, Any], lang: str) -> list[list[str]]:
    """A line for each thing that was asked."""

    def line(key: str, value: str, **more: object) -> list[str]:
        return [say(f"bench.full_size.{key}", lang, **more), value]

    prepare, timed, killed, ranks = (numbers[key] for key in ("prepare", "timed", "killed", "ranks"))
    recorded = of_the_bench(numbers["accelerator"])
    waiting = timed["waiting"]
    rows = [
        line("pairs", f"{numbers['pairs']:,} ({numbers['read'] / 1e6:,.0f} MB)"),
        line("prepare", f"{prepare['seconds']:,.0f} s", cores=numbers["cores"]),
        line("busy", f"{prepare['busy']:,.0f} s"),
        line("memory", f"{prepare['anonymous'] / 1e6:,.0f} MB" if prepare["anonymous"] else "–"),
        line("start", f"{timed['start']:,.1f} s"),
        line("first", f"{timed['first']:,.1f} s"),
        line("speed", f"{timed['tokens_per_second']:,.0f}"),
        line("recorded", "–" if recorded is None else f"{recorded:,.0f}"),
        line("waiting", "–" if waiting is None else f"{100 * waiting:.1f} %"),
        line("exact", f"{numbers['exact']['tokens_per_second']:,.0f}"),
        line("killed", f"{killed['equal']} / {killed['lines']}", step=killed["at"], steps=STEPS),
        line("weights", say(f"bench.full_size.{'same' if killed['weights'] else 'others'}", lang)),
    ]
    for way in WAYS:
        rows.append(line("rank_speed", f"{ranks[way]['tokens_per_second']:,.0f}", way=way.upper()))
        rows.append(line("rank_apart", f"{ranks[way]['difference']:.1e}", way=way.upper(), steps=RANKED))
    return [[say("columns.full_size.what", lang), say("columns.full_size.measured", lang)], *rows]
