"""From a configuration to a model, initialised."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import nn

from glassformer.config.model import ModelConfig
from glassformer.errors import ConfigError, choose
from glassformer.layers.attention import KERNELS
from glassformer.layers.norm import NORMS, Norm
from glassformer.models.check import check
from glassformer.models.in_symbols import number_of_values
from glassformer.models.initialize import initialize
from glassformer.models.parts import MODELS, model_parts


def build(
    config: ModelConfig,
    *,
    seed: int | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
    kernel: str = "fused",
    norms: Mapping[str, Norm] = NORMS,
) -> nn.Module:
    """The model, initialised. `device="meta"` builds any size without memory; `norms` adds your own kinds."""
    check(config, norms=tuple(norms))
    choose("kernel", kernel, KERNELS)
    if config.norm.kind in NORMS:  # a norm of your own may use functions without a rule
        _refuse_too_large(config, device, dtype)
    parts = model_parts(config)
    for stack in (parts[side] for side in ("encoder", "decoder") if side in parts):
        stack.options.update(kernel=kernel, norm=norms[config.norm.kind])
    with torch.device(device or "cpu"), torch.random.fork_rng(devices=[], enabled=seed is not None):
        model: nn.Module = MODELS[config.family](**{name: box.make(**box.options) for name, box in parts.items()})
    if str(device) != "meta":  # a tensor there has no numbers
        n_layers = max(config.encoder_layers, config.decoder_layers)
        initialize(model, config.init, d_model=config.d_model, n_layers=n_layers, generator=_seeded(seed, device))
    return model if dtype is None else model.to(dtype)


def _seeded(seed: int | None, device: str | torch.device | None) -> torch.Generator | None:
    if seed is None:
        return None
    if not 0 <= seed < 2**63:
        raise ConfigError("out_of_range", key="seed", value=seed, low=0, high=2**63 - 1)
    return torch.Generator(device or "cpu").manual_seed(seed)


def _refuse_too_large(config: ModelConfig, device: str | torch.device | None, dtype: torch.dtype | None) -> None:
    """Refuse a model that does not fit before the machine runs out of memory."""
    if torch.device(device or "cpu").type != "cpu":
        return
    default = torch.get_default_dtype()  # modules are made in it and cast afterwards
    width = max(default.itemsize, (dtype or default).itemsize)
    needed = number_of_values(config) * width
    available = free_memory()
    if available is not None and needed > available:
        raise ConfigError("does_not_fit", needed=f"{needed / 2**30:,.1f}", available=f"{available / 2**30:,.1f}")


def free_memory() -> int | None:
    """Bytes that programs can still allocate; None if the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None
