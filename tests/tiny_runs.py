"""A trained run of every task, made once for all tests of a session, and what its everyday verb is asked."""

from __future__ import annotations

import shutil
from pathlib import Path

from PIL import Image

from glassformer.training.begin import begin
from glassformer.training.loop import train
from once import once
from small_forecaster import hours, written
from tiny_tasks import TINY, tiny

STEPS = (4, 6, 8)  # the checkpoints that are left: of every two steps the last three


def trained(kind: str, folder: Path) -> Path:
    """A copy, to be damaged or written into."""
    run = once(f"tiny-{kind}", lambda path: list(train(begin(tiny(kind), path))))
    return Path(shutil.copytree(run, folder / kind))


def use(kind: str, run: Path, folder: Path) -> list[str]:
    """The everyday verb of a task as it is typed, with words that it was trained on: of others it would warn."""
    match kind:
        case "translation":
            return ["translate", str(run), "우리는 자주 웃는다"]
        case "classification":
            return ["classify", str(run), "우리는 자주 웃는다"]
        case "masked_language_model":
            return ["fill", str(run), "우리는 ___ 웃는다"]
        case "language_model":
            return ["generate", str(run), "the", "--tokens", "3"]
        case "image_classification":
            Image.new("L", (8, 8), 128).save(folder / "grey.png")
            return ["recognise", str(run), str(folder / "grey.png")]
        case "forecasting":
            return ["forecast", str(run), str(written(folder, hours(60)))]
    return ["evaluate", str(run)]


KINDS = tuple(TINY)
