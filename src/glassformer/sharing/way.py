"""The way of a shared run: checkpoints along its training, and as much of its log as its curves need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from glassformer.errors import FileError
from glassformer.files import read_json, without_nan, write_text
from glassformer.runs import Run

KINDS = ("train", "evaluation")  # lines of the log that are points of a curve
KEPT = ("kind", "step", "loss", "accuracy", "learning_rate", "sample_bleu", "best")


def kept_steps(run: Run, wanted: Iterable[int]) -> list[int]:
    """The wanted checkpoints, oldest first; raises for one that the run does not have."""
    known = run.checkpoints_by_step()
    for step in wanted:
        if step not in known:
            raise FileError(
                "checkpoint_not_there", path=run.folder, which=step, steps=", ".join(map(str, sorted(known)))
            )
    return sorted(set(wanted))


def write_log(run: Run, folder: Path, last: int) -> None:
    """The points of the curves up to the last checkpoint that is kept."""
    lines = [
        json.dumps(without_nan({key: record[key] for key in KEPT if key in record}), separators=(",", ":"))
        for record in run.log.read()
        if record["step"] <= last and record.get("kind") in KINDS
    ]
    write_text(folder / "log.jsonl", "".join(f"{line}\n" for line in lines))


def compact(paths: Sequence[Path]) -> None:
    """JSON without its layout: half the bytes of a tokenizer."""
    for path in paths:
        write_text(path, json.dumps(read_json(path), ensure_ascii=False, separators=(",", ":")) + "\n")
