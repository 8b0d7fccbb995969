"""Where a model of images looked: the roll-out of its attention as heat over the image, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from glassformer.data.picture import read_picture
from glassformer.decoding.step import evaluating
from glassformer.files import write_figure
from glassformer.loading import Loaded
from glassformer.tasks.image_classification.recognise import seen
from glassformer.tasks.verbs import check_verb
from glassformer.trace.record import record
from glassformer.trace.rollout import rollout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INCHES, DOTS = 3, 160  # size of one image, and dots per inch
HEAT = 0.6  # opacity of the heat


@torch.inference_mode()
def patch_heat(loaded: Loaded, image: str | Path) -> Float[Tensor, "rows columns"]:
    """How much of every patch is in the vector that the head reads; see `trace.rollout`."""
    check_verb(loaded, "recognise")
    options, head = loaded.config.model.input.options, loaded.config.model.head.options
    pixels = seen(loaded, [image])  # 1 c size size
    with evaluating(loaded.model), record(loaded.model, "*.weights") as trace:
        loaded.model(pixels)
    class_tokens, pool = int(options.get("class_tokens", 1)), str(head.get("pool", "cls"))
    return rollout(trace, class_tokens=class_tokens, pool=pool)[0]


def draw_rollout(loaded: Loaded, image: str | Path, path: str | Path) -> None:
    """The image as the model sees it, and the same under heat: dark where no attention reached the class."""
    write_figure(Path(path), _figure(loaded, image), dots=DOTS)


def _figure(loaded: Loaded, image: str | Path) -> Figure:
    from matplotlib.figure import Figure

    options = loaded.config.model.input.options
    size, channels = int(options["size"]), int(options.get("channels", 3))
    heat = patch_heat(loaded, image).float().cpu()  # rows columns
    smooth = F.interpolate(heat[None, None], (size, size), mode="bilinear", align_corners=False)[0, 0]  # size size
    pixels = read_picture(image, size=size, channels=channels).permute(1, 2, 0)  # size size c
    figure = Figure(figsize=(2 * INCHES, INCHES))
    for axes in figure.subplots(1, 2, gridspec_kw={"left": 0, "right": 1, "bottom": 0, "top": 1, "wspace": 0.02}):
        axes.imshow(pixels.expand(-1, -1, 3).numpy(), vmin=0, vmax=1)
        axes.set_axis_off()
    figure.axes[1].imshow(smooth.numpy(), cmap="inferno", alpha=HEAT)
    return figure
