"""A model that has all its shapes but no numbers yet, to be filled from a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.config.model import ModelConfig
from glassformer.models.build import build

DRAWS: frozenset[Callable[..., Any]] = frozenset(
    (Tensor.normal_, Tensor.uniform_, nn.init.kaiming_uniform_, nn.init.uniform_, nn.init.normal_)
)


class _NothingDrawn(TorchFunctionMode):
    """Skips initialisation: on `meta` it has no effect, but takes half of the time to build, and for `normal_` torch
    would load its compiler (4 s, 80 MB)."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function in DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return function(*args, **(kwargs or {}))


def empty_model(config: ModelConfig) -> nn.Module:
    """A model on `meta`: any size, no memory."""
    with _NothingDrawn():
        return build(config, device="meta")


def allocated(model: nn.Module, device: str | torch.device) -> nn.Module:
    """The same model with uninitialised memory for all that is still on `meta`.

    `to_empty` would load 480 modules, 35 MB, for this.
    """
    return model._apply(lambda x: torch.empty(x.shape, dtype=x.dtype, device=device) if x.is_meta else x)


def shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Every tensor of the model and its shape."""
    return shapes_of(empty_model(config))


def shapes_of(model: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(x.shape) for name, x in model.state_dict().items()}


def parameter_count(config: ModelConfig) -> int:
    """The number of trained values, tied ones counted once, without buffers."""
    return sum(x.numel() for x in empty_model(config).parameters())
