"""An image file → what a model of images sees: grey or colour, of the model's size, every pixel 0 … 1."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from glassformer.config.values import one_of
from glassformer.errors import ConfigError, FileError, GlassformerError, shown

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MODES = {1: "L", 3: "RGB"}  # channels → pillow's name for it
RESAMPLING = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "AVIF")  # none that pillow reads with another program
DEEP = 65535  # white in 16 bits


def read_picture(
    path: str | Path,
    *,
    size: int,
    channels: int = 3,
    resample: str = "bilinear",
    resize: bool = True,
    keep_shape: bool = False,
) -> Float[Tensor, "c height width"]:
    """One image, resized to a square; with `resize=False` another size is refused.

    With `keep_shape` it keeps its proportions, and `size` is its shorter side.

    The first frame of an animation; transparent pixels become white. Rotated as the camera says; 16 bits become 8.
    Images above pillow's limit for decompression bombs are refused unread.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise ConfigError("needs_package", what=path, package="glassformer[images]") from error
    one_of("task.resample", resample, RESAMPLING)
    if channels not in MODES:
        raise ConfigError("picture_channels", channels=channels)
    path = Path(path)
    Image.init()
    try:
        if not path.is_file():
            raise FileError("no_such_file", path=path)
        with _quiet_library():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=[known for known in FORMATS if known in Image.OPEN]) as image:
                flat = _flat(image, path, MODES[channels])
                if not resize and flat.size != (size, size):
                    raise FileError("picture_size", path=path, width=flat.width, height=flat.height, size=size)
                return _numbers(flat, _sides(flat, size) if keep_shape else (size, size), resample)
    except GlassformerError:
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise FileError("picture_too_large", path=path, limit=f"{Image.MAX_IMAGE_PIXELS:,}") from error
    except UnidentifiedImageError as error:
        raise FileError("picture_unknown", path=path, known=", ".join(FORMATS)) from error
    except PermissionError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except Exception as error:  # a damaged file: each format has its own errors
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise FileError("picture_damaged", path=path, why=why) from error


@contextmanager
def _quiet_library() -> Iterator[None]:
    """Silence pillow's warnings and logs about odd files: they are read, or our own error says what is wrong."""
    log = logging.getLogger("PIL")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)


def statistic(key: str, given: Any, channels: int) -> Float[Tensor, "c 1 1"]:
    """`task.mean` or `task.std`, a number for each channel; by default values without an effect."""
    if given is None:
        given = [0.0 if key == "mean" else 1.0] * channels
    numbers = list(given) if isinstance(given, list | tuple) else [given]
    fit = all(isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one) for one in numbers)
    if not fit or len(numbers) != channels or (key == "std" and min(numbers) <= 0):
        raise ConfigError("picture_statistic", key=f"task.{key}", value=shown(given), channels=channels)
    return torch.tensor(numbers, dtype=torch.float32).view(-1, 1, 1)


def _flat(image: Picture, path: Path, mode: str) -> Picture:
    """The image with 8 bits per channel, the right way up, nothing transparent."""
    from PIL import Image, ImageOps

    image = ImageOps.exif_transpose(image)
    if image.mode == "F":
        raise FileError("picture_mode", path=path, mode=image.mode)
    if image.mode.startswith("I"):
        deep = np.asarray(image, dtype=np.int64)  # height width
        if deep.min() < 0 or deep.max() > DEEP:
            raise FileError("picture_mode", path=path, mode=image.mode)
        image = Image.fromarray((deep / (DEEP / 255)).round().astype(np.uint8))
    elif image.has_transparency_data:
        clear = image.convert("RGBA")
        image = Image.new("RGBA", clear.size, "white")
        image.alpha_composite(clear)
    return image.convert(mode)


def middle(pixels: Float[Tensor, "c height width"], size: int) -> Float[Tensor, "c size size"]:
    """The square in the middle; a smaller image gets black around it. Odd pixels go to the left and the top."""
    height, width = pixels.shape[-2:]
    around = [max(size - width, 0), max(size - height, 0)]
    left, top = (-(-each // 2) for each in around)
    pixels = F.pad(pixels, (left, around[0] - left, top, around[1] - top))
    top, left = ((pixels.shape[axis] - size) // 2 for axis in (-2, -1))
    return pixels[..., top : top + size, left : left + size]


def _sides(image: Picture, shorter: int) -> tuple[int, int]:
    """Width and height, of which one is `shorter`."""
    width, height = image.size
    if width <= height:
        return shorter, int(shorter * height / width)
    return int(shorter * width / height), shorter


def _numbers(image: Picture, sides: tuple[int, int], resample: str) -> Tensor:
    from PIL.Image import Resampling

    width, height = sides
    resized = image.resize(sides, Resampling[resample.upper()])
    pixels = np.asarray(resized, dtype=np.float32) / 255  # height width [c]
    return torch.from_numpy(pixels).view(height, width, -1).permute(2, 0, 1)  # c height width
