"""The verbs of the Python interface: they take any MODEL that the command line takes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from glassformer.ledger.parameters import Ledger
from glassformer.ledger.parameters import count as count_config
from glassformer.models.build import build as build_config
from glassformer.models.check import check as check_config
from glassformer.open import Model, name_of, open_config


def count(model: Model, *, layers: int | None = None, **keys: Any) -> Ledger:
    """Every parameter of a model by formula. `layers` sets the depth, other keywords any key of the configuration."""
    return count_config(name_of(model), open_config(model, layers=layers, overrides=keys))


def build(
    model: Model,
    *,
    layers: int | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
    kernel: str = "fused",
    **keys: Any,
) -> nn.Module:
    """An nn.Module from a preset, a ModelConfig, a TOML file or a dict. `device="meta"`: without memory."""
    config = open_config(model, layers=layers, overrides=keys)
    return build_config(config, seed=seed, device=device, dtype=dtype, kernel=kernel)


def check(model: Model, *, layers: int | None = None, **keys: Any) -> None:
    """Raise a ConfigError with name, value, rule and remedy unless the model can be built."""
    check_config(open_config(model, layers=layers, overrides=keys))
