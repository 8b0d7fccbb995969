"""Patches instead of words: pieces of an image or of a series become the tokens of the model."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.values import size as whole
from glassformer.errors import ConfigError, InputError
from glassformer.kernels.linear import Linear
from glassformer.tap import tap


def _refuse_nan(x: Tensor) -> None:
    # As with token ids, values are checked on the CPU only, where reading them is free.
    if x.device.type == "cpu" and not torch.compiler.is_compiling() and not bool(torch.isfinite(x).all()):
        raise InputError("patch_not_finite", count=int((~torch.isfinite(x)).sum()), total=x.numel())


def check_image(size: int, patch: int, stride: int | None = None) -> None:
    """Patches must cover the whole image, without a border left over; those that overlap do so alike on all sides."""
    if stride is None:
        if whole("input.size", size) % whole("input.patch", patch):
            raise ConfigError("image_patch", size=size, patch=patch)
    elif whole("input.size", size) % whole("input.stride", stride):
        raise ConfigError("image_stride", size=size, stride=stride)
    elif whole("input.patch", patch) < stride or (patch - stride) % 2:
        raise ConfigError("image_overlap", patch=patch, stride=stride, near=max(patch + 1, stride))


def check_series(context: int, length: int, stride: int) -> None:
    """At least one patch must fit into the series."""
    whole("input.stride", stride)
    if whole("input.length", length) > whole("input.context", context):
        raise ConfigError("series_patch", length=length, context=context)


class ImagePatches(nn.Module):
    r"""Patches of an image (Dosovitskiy et al. 2021).

        x_n = flatten(patch_n) W + b,   n = 1 … (size/stride)²

    Square patches, read row by row. With a `stride` below `patch` they overlap (Wu et al. 2021): there is one for each
    square of `stride` pixels, and it reaches (patch − stride)/2 pixels beyond it on every side; outside the image is 0.
    `class_tokens` learned vectors come before them: one in ViT, two in DeiT with distillation.
    Differs from the paper: it replaces the token embedding.
    """

    def __init__(
        self,
        *,
        d_model: int,
        size: int,
        patch: int,
        stride: int | None = None,
        channels: int = 3,
        class_tokens: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_image(size, patch, stride)
        self.size, self.patch, self.stride, self.channels = size, patch, stride or patch, channels
        self.projection = Linear(channels * patch * patch, d_model, bias=bias)
        self.class_token = nn.Parameter(torch.zeros(class_tokens, d_model)) if class_tokens else None

    def forward(self, images: Float[Tensor, "b c height width"]) -> Float[Tensor, "b t d_model"]:
        expected = (self.channels, self.size, self.size)
        if images.dim() != 4 or tuple(images.shape[1:]) != expected:
            raise InputError("image_shape", shape=tuple(images.shape), expected=expected)
        _refuse_nan(images)
        patches = F.unfold(images, self.patch, padding=(self.patch - self.stride) // 2, stride=self.stride).transpose(
            1, 2
        )  # b n c·patch·patch
        x = self.projection(patches)  # b n d_model
        if self.class_token is not None:
            x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], 1)  # b class_tokens+n d_model
        return tap("output", x)

    @staticmethod
    def positions(*, size: int, patch: int, stride: int | None = None, class_tokens: int = 1) -> int:
        """The number of vectors: patches and class tokens."""
        return (size // (stride or patch)) ** 2 + class_tokens


class SeriesPatches(nn.Module):
    r"""Patches of a series of numbers (Nie et al. 2023).

        x_n = s[n·stride … n·stride + length] W + b,   n = 0 … (context − length)/stride

    30 days in patches of 6 days with stride 3 are 9 patches. `pad_end` repeats the last value `stride` times first,
    so that one more patch ends at the present. Several channels become part of each patch; for channel
    independence put them into the batch.
    Differs from the paper: it replaces the token embedding.
    """

    def __init__(
        self,
        *,
        d_model: int,
        context: int,
        length: int,
        stride: int,
        channels: int = 1,
        pad_end: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_series(context, length, stride)
        self.context, self.length, self.stride, self.channels, self.pad_end = context, length, stride, channels, pad_end
        self.projection = Linear(channels * length, d_model, bias=bias)

    def forward(self, series: Float[Tensor, "b c context"]) -> Float[Tensor, "b t d_model"]:
        expected = (self.channels, self.context)
        if series.dim() != 3 or tuple(series.shape[1:]) != expected:
            raise InputError("series_shape", shape=tuple(series.shape), expected=expected)
        _refuse_nan(series)
        if self.pad_end:
            series = F.pad(series, (0, self.stride), mode="replicate")  # b c context+stride
        patches = series.unfold(-1, self.length, self.stride)  # b c n length
        return tap("output", self.projection(patches.transpose(1, 2).flatten(2)))  # b n d_model

    @staticmethod
    def positions(*, context: int, length: int, stride: int, pad_end: bool = False) -> int:
        """The number of patches."""
        return (context + (stride if pad_end else 0) - length) // stride + 1
