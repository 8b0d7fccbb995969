"""A model of ours as one side of a comparison: in memory, in a folder, or untrained from a configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.comparison.difference import Shape
from glassformer.comparison.inputs import AnyModel, Reads, SharedInput, reads
from glassformer.comparison.walk import See, placed
from glassformer.config.model import ModelConfig
from glassformer.decoding.step import evaluating
from glassformer.errors import InputError, shown
from glassformer.loading import Loaded, load, name_of, open_config, weights_folder
from glassformer.models.build import build
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.tap import Selection
from glassformer.trace.record import Recorder
from glassformer.trace.trace import Trace
from glassformer.trace.watch import watching

SEED = 0  # for the weights of a preset or configuration, which has none
ModelSide = str | Path | ModelConfig | Mapping[str, Any] | Loaded | nn.Module


@dataclass(frozen=True)
class Ours:
    """A model of ours in memory."""

    model: AnyModel
    loaded: Loaded | None = None

    @property
    def dtype(self) -> torch.dtype:
        return next(self.model.parameters()).dtype

    def walk(self, batch: SharedInput, wanted: Mapping[str, Shape], see: See) -> None:
        device, model = next(self.model.parameters()).device, self.model
        source, target = (placed(x, device, self.dtype) for x in (batch.source, batch.target))
        mask = None if batch.mask is None else batch.mask.to(device)
        with torch.no_grad(), evaluating(model), watching(model, Streamer(see)):
            if isinstance(model, EncoderDecoder):
                model(source, target, mask)
            else:
                model(source, mask)


@dataclass(frozen=True)
class OursClosed:
    """A model of ours by name, by configuration, or in memory."""

    name: str
    reads: Reads
    make: Callable[[], Ours]
    matched: bool = False

    def open(self, dtype: torch.dtype | None) -> Ours:
        return self.make()


class Streamer(Recorder):
    """Records nothing: passes each tap on as it is computed."""

    def __init__(self, see: See) -> None:
        super().__init__(Trace(), None, None, Selection(), gradients=False)
        self.hand_on = see

    def meet(self, name: str, x: Tensor) -> Tensor:
        met = super().meet(name, x)
        self.hand_on(*self.trace.tensors.popitem())
        return met


def ours(side: ModelSide) -> OursClosed:
    """A trained model, a folder, a preset or configuration (weights from seed 0), a `Loaded`, or a module."""
    match side:
        case Loaded():
            held = Ours(_ours(side.model), side)
            return OursClosed(side.folder.name, reads(held.model), lambda: held)
        case nn.Module():
            model = _ours(side)
            return OursClosed(type(side).__name__, reads(model), lambda: Ours(model))
    config = open_config(side)
    shape = reads(_ours(build(config, device="meta")))
    if isinstance(side, str | Path) and (folder := weights_folder(side)) is not None:
        return OursClosed(name_of(side), shape, lambda: _load(folder))
    return OursClosed(name_of(side), shape, lambda: Ours(_ours(build(config, seed=SEED))))


def _load(folder: str | Path) -> Ours:
    loaded = load(folder)
    return Ours(_ours(loaded.model), loaded)


def _ours(model: nn.Module) -> AnyModel:
    if not isinstance(model, EncoderOnly | DecoderOnly | EncoderDecoder):
        raise InputError("compare_not_a_model", given=shown(type(model).__name__))
    return model
