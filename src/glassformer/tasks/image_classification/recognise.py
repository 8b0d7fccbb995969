"""Recognise: which of the classes an image belongs to, and how sure the model is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from glassformer.config.values import path_of
from glassformer.data.picture import middle, read_picture, statistic
from glassformer.decoding.step import evaluating
from glassformer.loading import Loaded
from glassformer.runs import Run
from glassformer.tasks.classification.classify import Classified, decided
from glassformer.tasks.verbs import Answers, check_verb

IMAGES_AT_ONCE = 16


@torch.inference_mode()
def recognise(loaded: Loaded, images: str | Path | Sequence[str | Path]) -> Answers[Classified]:
    r"""The class of each image file, in the given order.

    x = (pixel − mean) / std, channel by channel, if `task.mean` and `task.std` are given; pixels are 0 … 1
    """
    check_verb(loaded, "recognise")
    if not isinstance(images, Iterable):
        path_of("images", images)
    every = [images] if isinstance(images, str | Path) else list(images)
    for path in every:
        path_of("images", path)
    names, found = [str(path) for path in every], Answers[Classified]()
    with evaluating(loaded.model):
        for first in range(0, len(every), IMAGES_AT_ONCE):
            pixels = seen(loaded, every[first : first + IMAGES_AT_ONCE])  # b c size size
            found += decided(names[first : first + IMAGES_AT_ONCE], loaded.model(pixels), loaded.labels)
    return found


def training_image(run: Run, step: int) -> list[str] | None:
    """The first image that a run was trained on, as something to recognise; None if it is not a file."""
    source = run.config.data.source
    if source.kind != "folder":
        return None
    files = sorted(path for path in Path(str(source.options["train"])).glob("*/*") if path.is_file())
    return [str(files[0])] if files else None


def seen(loaded: Loaded, images: Sequence[str | Path]) -> Tensor:
    """Files as the model sees them, on its device and in its type."""
    options, task = loaded.config.model.input.options, loaded.config.task.options
    size, channels = int(options["size"]), int(options.get("channels", 3))
    resample = str(task.get("resample", "bilinear"))
    whole, shortest = int(task.get("enlarge", size)), bool(task.get("shortest", False))
    read = partial(read_picture, size=whole, channels=channels, resample=resample, keep_shape=shortest)
    pixels = torch.stack([middle(read(path), size) for path in images])  # b c size size
    mean, std = (statistic(key, task.get(key), channels) for key in ("mean", "std"))
    return ((pixels - mean) / std).to(loaded.device, loaded.dtype)
