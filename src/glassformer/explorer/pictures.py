"""Images of a request: pixels drawn in the page or an example, as patches; canvases for object queries and prompts."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.config.values import size as whole
from glassformer.config.values import wrong_type
from glassformer.data import prompts
from glassformer.data.canvases import DARKEST, CanvasPlan
from glassformer.data.picture import statistic
from glassformer.data.pictures import WHITE, read_digits
from glassformer.errors import ConfigError, GlassformerError, InputError, choose, shown
from glassformer.explorer import fields
from glassformer.explorer.fields import Fields
from glassformer.explorer.given import ReadInput
from glassformer.explorer.pieces import Piece, plain_pieces
from glassformer.loading import Loaded
from glassformer.tasks.prompted_objects.task import asked_canvases

EXAMPLES = 12
SHAPES = (  # a T-shirt and a boot, corner by corner: x, y in 0 … 1
    (
        (0.3, 0.1),
        (0.7, 0.1),
        (0.95, 0.3),
        (0.85, 0.42),
        (0.72, 0.34),
        (0.72, 0.92),
        (0.28, 0.92),
        (0.28, 0.34),
        (0.15, 0.42),
        (0.05, 0.3),
    ),
    ((0.55, 0.12), (0.85, 0.12), (0.9, 0.88), (0.08, 0.88), (0.08, 0.7), (0.55, 0.52)),
)
LARGEST_SIDE = 512  # pixels of a side that a request may send
_kept: WeakKeyDictionary[nn.Module, list[Tensor]] = WeakKeyDictionary()  # examples, as long as a model is open


def read_image(loaded: Loaded, given: Fields) -> ReadInput:
    """Pixels for a classifier of images: x = (pixel − mean) / std, channel by channel."""
    fields.known_keys(given, ("pixels", "example"))
    pixels = _pixels(loaded, given)  # c size size
    options, task = loaded.config.model.input.options, loaded.config.task.options
    mean, std = (statistic(key, task.get(key), int(options.get("channels", 3))) for key in ("mean", "std"))
    seen = ((pixels - mean) / std)[None].to(loaded.device, loaded.dtype)  # 1 c size size
    return ReadInput((seen,), _patches(loaded), shown=_grid(loaded), tensors={"input.pixels": pixels})


def read_canvas(loaded: Loaded, given: Fields) -> ReadInput:
    """Pixels for object queries, which are the target side."""
    fields.known_keys(given, ("pixels", "example"))
    pixels = _pixels(loaded, given)
    queries = plain_pieces([f"q{i + 1}" for i in range(loaded.config.model.queries)])
    seen = pixels[None].to(loaded.device, loaded.dtype)  # 1 1 size size
    return ReadInput((seen,), _patches(loaded), queries, shown=_grid(loaded), tensors={"input.pixels": pixels})


def read_prompted(loaded: Loaded, given: Fields) -> ReadInput:
    """Pixels and a prompt: {"point": [x, y]} or {"word": "three"}."""
    fields.known_keys(given, ("pixels", "example", "prompt"))
    pixels = _pixels(loaded, given)
    side = int(loaded.config.model.input.options["size"])
    prompt = given.get("prompt")
    asked = fields.table("prompt", _first_prompt(loaded, given) if prompt is None else prompt)
    tokens, names = _prompt(asked, side)
    seen = pixels[None].to(loaded.device, loaded.dtype)  # 1 1 size size
    target = [Piece(name, token) for name, token in zip(names, tokens, strict=True)]
    return ReadInput(
        (seen, torch.tensor([tokens], device=loaded.device)),
        _patches(loaded),
        target,
        shown=_grid(loaded) | {"prompt": dict(asked), "words": list(prompts.WORDS)},
        tensors={"input.pixels": pixels},
    )


def example_images(loaded: Loaded) -> list[Tensor]:
    """Some images like those the model was trained on, c size size in 0 … 1; none if they cannot be had here."""
    if loaded.model not in _kept:
        try:
            _kept[loaded.model] = _examples(loaded)
        except GlassformerError:  # a package is missing, or the images were files of one's own
            _kept[loaded.model] = []
    return _kept[loaded.model]


def _examples(loaded: Loaded) -> list[Tensor]:
    config = loaded.config
    if loaded.task == "prompted_objects":
        images = _canvases(asked_canvases, loaded)
    elif loaded.task == "object_queries":
        images = _canvases(lambda config, split: CanvasPlan.of(config.data).examples(split), loaded)
    elif config.data.source.kind == "digits":
        options = config.model.input.options
        found = read_digits().fitted(int(options["size"]), int(options.get("channels", 3)), resize=True)
        images = [torch.from_numpy(found.pixels[-1 - i].astype(np.float32)) / WHITE for i in range(EXAMPLES)]
    else:  # a data set that may not be here
        options = config.model.input.options
        images = [_polygon(points, int(options["size"]), int(options.get("channels", 3))) for points in SHAPES]
    return images


def _polygon(points: tuple[tuple[float, float], ...], side: int, channels: int) -> Tensor:
    """A bright shape on dark, c side side: inside is where a ray to the right crosses an odd number of edges."""
    y, x = torch.meshgrid(*[(torch.arange(side) + 0.5) / side] * 2, indexing="ij")  # side side
    inside = torch.zeros(side, side, dtype=torch.bool)
    for (x1, y1), (x2, y2) in zip(points, (*points[1:], points[0]), strict=True):
        crossed = (y < y1) != (y < y2)
        inside ^= crossed & (x < x1 + (y - y1) * (x2 - x1) / ((y2 - y1) or 1.0))
    return 0.8 * inside.float().expand(channels, side, side)


def _canvases(examples: object, loaded: Loaded) -> list[Tensor]:
    fields_of = examples(loaded.config, "test").fields["image"]  # type: ignore[operator]
    return [torch.from_numpy(image)[None].float() / DARKEST for image in fields_of[:EXAMPLES]]


def _first_prompt(loaded: Loaded, given: Fields) -> Fields:
    """Where nothing is asked: about the middle of the canvas."""
    side = int(loaded.config.model.input.options["size"])
    return {"point": [side // 2, side // 2]}


def _prompt(asked: Fields, side: int) -> tuple[tuple[int, int], list[str]]:
    fields.known_keys(asked, ("point", "word"))
    if "word" in asked:
        name = choose("prompt.word", fields.text(asked, "word"), {word: word for word in prompts.WORDS})
        find = 2 * side
        return (find, find + 1 + prompts.WORDS.index(name)), ["find", name]
    point = fields.numbers("prompt.point", asked.get("point"), 2)
    if len(point) != 2:
        raise wrong_type("prompt.point", asked.get("point"), "list")
    x, y = (whole("prompt.point", int(each), 0, side - 1) for each in point)
    return (x, side + y), [f"x={x}", f"y={y}", prompts.PointPrompt(side).read((x, side + y))][:2]


def _pixels(loaded: Loaded, given: Fields) -> Tensor:
    """c size size in 0 … 1, from an example or from rows of numbers: h w, or c h w; another size is resized."""
    options = loaded.config.model.input.options
    side, channels = int(options["size"]), int(options.get("channels", 3))
    if given.get("pixels") is None:
        images = example_images(loaded)
        place = fields.whole(given, "example") or 0
        if not images:
            return torch.zeros(channels, side, side)
        if place >= len(images):
            raise InputError("explorer_index", key="example", value=place, last=len(images) - 1)
        return images[place]
    pixels = _as_tensor(given["pixels"])
    if pixels.shape[0] not in (1, channels):
        raise InputError("explorer_pixels", shape=tuple(pixels.shape), channels=channels, size=side)
    pixels = pixels.expand(channels, -1, -1)
    if pixels.shape[1:] != (side, side):
        pixels = F.interpolate(pixels[None], (side, side), mode="bilinear", antialias=True)[0]
    return pixels.clamp(0, 1).contiguous()


def _as_tensor(value: object) -> Tensor:
    """Rows of numbers as c h w."""
    try:
        found = torch.tensor(value, dtype=torch.float32)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ConfigError("wrong_type", key="pixels", value=shown(value), expected="[[0…1]]") from error
    found = found[None] if found.dim() == 2 else found
    fits = found.dim() == 3 and min(found.shape) > 0 and max(found.shape) <= LARGEST_SIDE
    if not fits or not bool(found.isfinite().all()):
        raise InputError("explorer_image", shape=tuple(found.shape), largest=LARGEST_SIDE)
    return found


def _grid(loaded: Loaded) -> dict[str, object]:
    options = loaded.config.model.input.options
    rows = _rows(loaded)
    return {
        "size": int(options["size"]),
        "patch": int(options["patch"]),
        "stride": int(options["size"]) // rows,
        "channels": int(options.get("channels", 3)),
        "grid": [rows, rows],
        "class_tokens": int(options.get("class_tokens", 1)),
    }


def _rows(loaded: Loaded) -> int:
    """The rows of patches, as many as columns."""
    options = loaded.config.model.input.options
    return int(options["size"]) // int(options.get("stride") or options["patch"])


def _patches(loaded: Loaded) -> list[Piece]:
    """The class tokens, then the patches row by row: 1, 2, 3."""
    options = loaded.config.model.input.options
    rows, classes = _rows(loaded), int(options.get("class_tokens", 1))
    return plain_pieces([*("[CLS]" for _ in range(classes)), *(str(i + 1) for i in range(rows * rows))])
