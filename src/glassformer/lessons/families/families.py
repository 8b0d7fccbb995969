"""Three families from the same boxes: which input can reach which output, measured by the gradient in built models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from glassformer.config.model import ModelConfig
from glassformer.lessons.desk import Desk
from glassformer.lessons.families.families_picture import draw
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.models.build import build
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder

SOURCE = ("나는", "학교에", "간다")
TARGET = ("<bos>", "I", "go", "to", "school")
SMALL: dict[str, Any] = {"vocab_size": 16, "max_len": 16, "d_model": 16, "n_heads": 2, "d_ff": 32, "norm_order": "pre"}
LAYERS = 2
HEADS: dict[str, Any] = {"encoder": {"kind": "classifier", "classes": 2}, "decoder": "language_model"}


def run(desk: Desk) -> Data:
    """Each family with two layers and random weights: a path that the architecture closes is closed for any weights."""
    return {
        "layers": LAYERS,
        "families": {family: _look(family, desk.seeds[0]) for family in desk.each("families", LOOKS)},
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
    """Rows: what the encoder and then the decoder give. Columns: the source, then the target."""
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

LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"I_{ts}=\left\lVert\frac{\partial y_t}{\partial x_s}\right\rVert",
    formula="I_ts = ‖∂y_t / ∂x_s‖",
    paper="§3.1, Figure 1",
    sources=("models/encoder.py", "models/decoder.py", "models/encoder_decoder.py", "layers/attention/mask.py"),
)
