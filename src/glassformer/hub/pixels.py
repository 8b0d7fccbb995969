"""preprocessor_config.json ↔ how images are prepared for a model: size, crop, mean and deviation of the pixels.

It has three generations: `size` as a number, as a pair, and as a table with names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.errors import FileError, shown
from glassformer.hub.foreign import Foreign, read_foreign

PREPROCESSOR_FILE = "preprocessor_config.json"
RESAMPLING = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}  # pillow's numbers
IMAGENET, CLIP = ([0.5] * 3, [0.5] * 3), ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
NAMES = ("ImageProcessorFast", "ImageProcessorPil", "ImageProcessor", "FeatureExtractor")


@dataclass(frozen=True)
class Processor:
    """The defaults of one of their classes. `square`: whether a plain number for the size means a square."""

    size: int
    resample: int = 2
    crop: bool = False
    square: bool = True
    statistics: tuple[list[float], list[float]] = IMAGENET


PROCESSORS = {
    "ViT": Processor(224),
    "DeiT": Processor(256, resample=3, crop=True),
    "Bit": Processor(224, resample=3, crop=True, square=False, statistics=CLIP),
}


def read_pixels(folder: Path, family: str, model: ModelConfig) -> dict[str, str | int | bool | list[float]]:
    """Options of the task, for `recognise`; empty if the folder does not say."""
    path = folder / PREPROCESSOR_FILE
    if not path.is_file():
        return {}
    foreign = read_foreign(path)
    theirs = _processor(foreign, family)
    for key, value in (("do_resize", True), ("do_rescale", True), ("rescale_factor", 1 / 255)):
        foreign.only(key, value)
    resample = foreign.whole("resample", theirs.resample)
    if resample not in RESAMPLING:
        known = ", ".join(f"{number} ({name})" for number, name in RESAMPLING.items())
        raise FileError("hub_unsupported", path=path, key="resample", value=resample, known=known)
    found: dict[str, str | int | bool | list[float]] = {"resample": RESAMPLING[resample]}
    found |= _sizes(foreign, theirs, int(model.input.options["size"]))
    if foreign.truth("do_normalize", True):
        for ours, key, usual in zip(("mean", "std"), ("image_mean", "image_std"), theirs.statistics, strict=True):
            given = foreign.table.get(key)
            found[ours] = foreign.numbers(key) if isinstance(given, list) else _spread(foreign, key, usual, model)
    return found


def _processor(foreign: Foreign, family: str) -> Processor:
    """The class that wrote the file, by its current or former name; else that of the model."""
    key = "image_processor_type" if foreign.table.get("image_processor_type") else "feature_extractor_type"
    named = foreign.word(key, f"{'DeiT' if family == 'deit' else 'ViT'}FeatureExtractor")
    stem = next((named.removesuffix(ending) for ending in NAMES if named.endswith(ending)), named)
    if stem not in PROCESSORS:
        known = ", ".join(f"{name}ImageProcessor" for name in PROCESSORS)
        raise FileError("hub_unsupported", path=foreign.path, key=key, value=named, known=known)
    return PROCESSORS[stem]


def _sizes(foreign: Foreign, theirs: Processor, takes: int) -> dict[str, Any]:
    """`enlarge`: the side that an image is resized to, or with `shortest` its shorter side; then its middle is cut out.

    The result must have the size that the model takes.
    """
    given = foreign.table.get("size")
    crop = foreign.truth("do_center_crop", theirs.crop)
    usual = theirs.size if crop else takes  # if not given: the size of the model
    side, shortest = _side(foreign, "size", usual if given is None else given, square=theirs.square)
    if shortest and not crop:
        raise FileError(
            "hub_unsupported", path=foreign.path, key="size", value=shown(given), known="shortest_edge + do_center_crop"
        )
    out = side
    if crop:
        cut = foreign.table.get("crop_size")
        out, _ = _side(foreign, "crop_size", takes if cut is None else cut, square=True)
    if out != takes:
        raise FileError("hub_pixels", path=foreign.path, given=f"{out}×{out}", takes=f"{takes}×{takes}")
    return {"enlarge": side, **({"shortest": True} if shortest else {})} if crop else {}


def _side(foreign: Foreign, key: str, value: Any, *, square: bool) -> tuple[int, bool]:
    """40, [40, 40], {"height": 40, "width": 40} or {"shortest_edge": 40}; and whether it means the shorter side."""
    match value:
        case int() if not isinstance(value, bool) and value > 0:
            return value, not square
        case [int(height), int(width)] if height == width > 0:
            return height, False
        case {"height": int(height), "width": int(width)} if height == width > 0:
            return height, False
        case {"shortest_edge": int(edge)} if edge > 0 and value.get("longest_edge") is None:
            return edge, True
    known = 'N, {"height": N, "width": N}, {"shortest_edge": N}'
    raise FileError("hub_unsupported", path=foreign.path, key=key, value=shown(value), known=known)


def _spread(foreign: Foreign, key: str, usual: list[float], model: ModelConfig) -> list[float]:
    """A value for each channel: one number from the file for all, or the defaults of the class."""
    channels = int(model.input.options.get("channels", 3))
    if foreign.table.get(key) is None:
        return usual if channels == len(usual) else [usual[0]] * channels
    return [foreign.number(key)] * channels


def describe_pixels(config: RunConfig) -> dict[str, Any]:
    """Mean and deviation of the pixels, and how images are made to fit; the inverse of `read_pixels`."""
    given, task = config.model.input.options, config.task.options
    size, channels = int(given["size"]), int(given.get("channels", 3))
    whole, shortest = int(task.get("enlarge", size)), bool(task.get("shortest", False))
    maker = "Bit" if shortest else "DeiT" if whole > size else "ViT"
    numbers = {name: number for number, name in RESAMPLING.items()}
    table = {
        "image_processor_type": f"{maker}ImageProcessor",
        "do_convert_rgb": channels == 3,
        "do_resize": True,
        "size": {"shortest_edge": whole} if shortest else {"height": whole, "width": whole},
        "resample": numbers[str(task.get("resample", "bilinear"))],
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": list(task.get("mean", [0.0] * channels)),
        "image_std": list(task.get("std", [1.0] * channels)),
    }
    if shortest or whole > size:
        table |= {"do_center_crop": True, "crop_size": {"height": size, "width": size}}
    return table
