"""Three families from the same boxes: which input can reach which output, measured by gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.models.build import build
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.show.drawing import colour_bar, heat
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SOURCE = ("나는", "학교에", "간다")
TARGET = ("<bos>", "I", "go", "to", "school")
SMALL: dict[str, Any] = {"vocab_size": 16, "max_len": 16, "d_model": 16, "n_heads": 2, "d_ff": 32, "norm_order": "pre"}
LAYERS = 2
HEADS: dict[str, Any] = {"encoder": {"kind": "classifier", "classes": 2}, "decoder": "language_model"}


def run(setup: LessonSetup) -> Data:
    """Each family with two layers and random weights: a path blocked by the architecture is blocked for any weights."""
    return {
        "layers": LAYERS,
        "families": {family: _look(family, setup.seeds[0]) for family in setup.each("families", LOOKS)},
    }


def _look(family: str, seed: int) -> dict[str, Any]:
    sides = {f"n_{side}_layers": LAYERS for side in family.split("-")}
    head = HEADS.get(family, "language_model")
    config = ModelConfig.from_dict({**SMALL, **sides, "family": family, "head": head})
    model = build(config, seed=seed, dtype=torch.float64).eval()
    found = LOOKS[family](model)
    open_paths = sum(value is not None for row in found["influence"] for value in row)
    cells = len(found["rows"]) * len(found["columns"])
    return {**found, "parameters": sum(p.numel() for p in model.parameters()), "open": open_paths, "cells": cells}


def _of_encoder(model: Any) -> dict[str, Any]:
    assert isinstance(model, EncoderOnly)
    x = model.embedding(_tokens(SOURCE)).detach()
    return _named(influence(model.encoder, x), SOURCE, SOURCE)


def _of_decoder(model: Any) -> dict[str, Any]:
    assert isinstance(model, DecoderOnly)
    x = model.embedding(_tokens(TARGET)).detach()
    return _named(influence(model.decoder, x), TARGET, TARGET)


def _of_both(model: Any) -> dict[str, Any]:
    """Rows: outputs of the encoder, then of the decoder. Columns: the source, then the target."""
    assert isinstance(model, EncoderDecoder)
    embedding = model.embedding if model.target_embedding is None else model.target_embedding
    source, target = model.embedding(_tokens(SOURCE)).detach(), embedding(_tokens(TARGET)).detach()
    s = len(SOURCE)

    def whole(both: Tensor) -> Tensor:
        memory = model.encoder(both[:, :s])
        return torch.cat([memory, model.decoder(both[:, s:], memory)], 1)

    return _named(influence(whole, torch.cat([source, target], 1)), (*SOURCE, *TARGET), (*SOURCE, *TARGET))


def _tokens(words: tuple[str, ...]) -> Tensor:
    return torch.arange(1, len(words) + 1)[None]


def influence(f: Callable[[Tensor], Tensor], x: Tensor) -> list[list[float | None]]:
    """‖∂y_t / ∂x_s‖ for every output t and input s; None where it is exactly 0: there is no path."""
    jacobian: Tensor = torch.autograd.functional.jacobian(f, x)
    norms = jacobian[0, :, :, 0].norm(dim=(1, 3))  # t s
    return [[value if value > 0 else None for value in row] for row in norms.tolist()]


def _named(found: list[list[float | None]], rows: tuple[str, ...], columns: tuple[str, ...]) -> dict[str, Any]:
    return {"influence": found, "rows": list(rows), "columns": list(columns)}


LOOKS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "encoder": _of_encoder,
    "decoder": _of_decoder,
    "encoder-decoder": _of_both,
}


# (column, row, name) of each box, and which box leads to which
Placed = tuple[float, float, str]
FLOWS: dict[str, tuple[tuple[Placed, ...], tuple[tuple[int, int], ...]]] = {
    "encoder": (((0.5, 0, "source"), (0.5, 1, "encoder"), (0.5, 2, "class")), ((0, 1), (1, 2))),
    "decoder": (((0.5, 0, "past"), (0.5, 1, "decoder"), (0.5, 2, "next")), ((0, 1), (1, 2))),
    "encoder-decoder": (
        ((0.2, 0, "source"), (0.2, 1, "encoder"), (0.8, 0, "past"), (0.8, 1, "decoder"), (0.8, 2, "next")),
        ((0, 1), (2, 3), (3, 4), (1, 3)),
    ),
}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """A column for each family; the third is wider, since it has two inputs."""
    figure = theme.figure(10, 6.6)
    panels = figure.subplots(2, 3, width_ratios=[1, 1.25, 1.7], height_ratios=[1, 1.45])
    most = max(value or 0.0 for one in data["families"].values() for row in one["influence"] for value in row)
    for column, (family, found) in enumerate(data["families"].items()):
        _flow(panels[0][column], family, theme, words)
        axes = panels[1][column]
        heat(axes, theme, found["influence"], rows=found["rows"], columns=found["columns"], most=most, bar=None)
        axes.set_aspect("equal")
        axes.set_xlabel(words("inputs"))
        if column == 0:
            axes.set_ylabel(words("outputs"))
        if family == "encoder-decoder":
            _border(axes, len(data["families"]["encoder"]["rows"]), len(found["rows"]), theme)
    colour_bar(list(panels[1]), theme, most, label=words("influence"))
    return figure


def _border(axes: Axes, source: int, every: int, theme: Theme) -> None:
    """The line between encoder and decoder."""
    axes.plot([source - 0.5] * 2, [-0.5, every - 0.5], color=theme.ink, linewidth=1)
    axes.plot([-0.5, every - 0.5], [source - 0.5] * 2, color=theme.ink, linewidth=1)


def _flow(axes: Axes, family: str, theme: Theme, words: PictureWords) -> None:
    boxes, arrows = FLOWS[family]
    for x, y, name in boxes:
        body = name in ("encoder", "decoder")
        look = {"boxstyle": "round,pad=0.5", "facecolor": "none", "edgecolor": theme.blue if body else theme.muted}
        axes.text(x, y, words(name), ha="center", va="center", fontsize=9, bbox=look)
    for start, end in arrows:
        (x, y, _), (to_x, to_y, _) = boxes[start], boxes[end]
        level = y == to_y
        gap = (0.17, 0.0) if level else (0.0, 0.26)
        arrow = {"arrowstyle": "->", "color": theme.vermilion if level else theme.ink, "linewidth": 1.4}
        axes.annotate("", (to_x - gap[0], to_y - gap[1]), (x + gap[0], y + gap[1]), arrowprops=arrow)
        if level:
            axes.text((x + to_x) / 2, y + 0.16, words("memory"), ha="center", va="bottom", fontsize=8)
    axes.set(xlim=(-0.15, 1.15), ylim=(-0.4, 2.4))
    axes.set_axis_off()
    axes.set_title(words(family.replace("-", "_")), loc="center")


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"I_{ts}=\left\lVert\frac{\partial y_t}{\partial x_s}\right\rVert",
    formula="I_ts = ‖∂y_t / ∂x_s‖",
    paper="§3.1, Figure 1",
    sources=("models/encoder.py", "models/decoder.py", "models/encoder_decoder.py", "layers/attention/mask.py"),
)
