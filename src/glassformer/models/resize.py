"""A model of images for images of another size: positions are interpolated, and patches too if they grow."""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.layers.position.learned import interpolate
from glassformer.models.build import build
from glassformer.models.check import check, input_positions

POSITIONS = "encoder.positions.weight"
PROJECTION = "embedding.projection.weight"


def resized_config(config: ModelConfig, size: int, patch: int | None = None) -> ModelConfig:
    """The same model for images of size × size; `patch` stays the same by default, so there are more patches."""
    if config.input.kind != "image":
        raise ConfigError("resize_input", input=config.input.kind)
    if config.position.kind != "learned":
        raise ConfigError("resize_positions", position=config.position.kind)
    old = config.input.options
    options = {**old, "size": size, "patch": patch or old["patch"]}
    if stride := old.get("stride"):
        options["stride"] = stride * options["patch"] // old["patch"]  # a larger patch takes larger steps
    wider = replace(config, input=Choice("image", options))
    check(replace(wider, position=Choice("none")))  # sizes only: the table of positions is made to fit
    return replace(wider, max_len=input_positions(wider) or config.max_len)


def resized(
    model: nn.Module, config: ModelConfig, size: int, patch: int | None = None
) -> tuple[nn.Module, ModelConfig]:
    """A trained model and its configuration → both for images of another size; the old model stays as it is.

    Positions are interpolated as ViT does (Dosovitskiy et al. 2021, §3.2). With a larger `patch` the projection is
    resized, too, so that its output for an enlarged patch stays the same (FlexiViT, Beyer et al. 2023).
    """
    wanted = resized_config(config, size, patch)
    old, new = config.input.options, wanted.input.options
    grids = tuple(each["size"] // (each.get("stride") or each["patch"]) for each in (old, new))
    offset = int(config.position.options.get("offset", 0))
    used = input_positions(config)
    assert used is not None
    weights = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    table = weights[POSITIONS]  # offset+max_len d_model
    class_tokens = used - grids[0] ** 2
    rows = interpolate(table[offset : offset + used].float(), class_tokens, (grids[0],) * 2, (grids[1],) * 2)
    weights[POSITIONS] = torch.cat([table[:offset], rows.to(table)])
    if new["patch"] != old["patch"]:
        channels = int(new.get("channels", 3))
        weights[PROJECTION] = resized_projection(weights[PROJECTION], channels, old["patch"], new["patch"])
    made = build(wanted, device=table.device, dtype=table.dtype).train(model.training)
    made.load_state_dict(weights)
    return made, wanted


def resized_projection(
    weight: Float[Tensor, "d_model old"], channels: int, old: int, new: int
) -> Float[Tensor, "d_model new"]:
    r"""The projection of `new` × `new` patches that gives for the enlarged patch B x what the old one gave for x.

    W′ = W B⁺,     B: new² × old², bilinear interpolation of a patch;     so W′ B x = W x where new ≥ old
    """
    each = torch.eye(old * old, dtype=torch.float64).view(-1, 1, old, old)  # old² 1 old old: one pixel lit
    enlarged = F.interpolate(each, (new, new), mode="bilinear", align_corners=False).flatten(1).T  # new² old²
    back = torch.linalg.pinv(enlarged)  # old² new²
    kernels = weight.double().cpu().unflatten(1, (channels, old * old))  # d_model c old²
    return (kernels @ back).flatten(1).to(weight)
