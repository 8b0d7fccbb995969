"""The input of the model, the "Input Embedding" of Figure 1: token ids, or vectors."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.errors import InputError, shown
from glassformer.layers.position.sinusoidal import sinusoid
from glassformer.tap import tap

WHOLE_NUMBERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


class TokenEmbedding(nn.Module):
    r"""Token embedding, §3.4.

        x_t = E[token_t] · √d_model      (+ S[segment_t], as in BERT)

    The factor √d_model brings rows of standard deviation 1/√d_model to the size of the positions that are added next.
    The first `special_tokens` ids ([PAD], [CLS], [SEP] …) start from a sinusoidal pattern instead of noise, which
    makes them easy to tell from ordinary tokens (see `initialize_special`).
    Differs from the paper: scale, segments and special tokens are options.
    """

    def __init__(
        self, *, vocab_size: int, d_model: int, scale: bool = True, special_tokens: int = 0, segments: int = 0
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model) if scale else 1.0
        self.special_tokens = special_tokens
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))
        self.segments = nn.Parameter(torch.empty(segments, d_model).normal_(std=d_model**-0.5)) if segments else None
        self.initialize_special()

    def forward(
        self, tokens: Int[Tensor, "b t"], segments: Int[Tensor, "b t"] | None = None
    ) -> Float[Tensor, "b t d_model"]:
        self._check(tokens)
        if segments is not None and self.segments is None:
            raise InputError("segments_unexpected")
        x = self.rows(tokens.long())  # b t d_model
        if self.scale != 1.0:
            x = x * self.scale
        if self.segments is not None:
            which = torch.zeros_like(tokens) if segments is None else segments
            outside = first_outside(which, self.segments.shape[0])
            if which.shape != tokens.shape:
                raise InputError("segments_shape", shape=tuple(which.shape), expected=tuple(tokens.shape))
            if outside is not None:
                raise InputError("segment_out_of_range", segment=outside, last=self.segments.shape[0] - 1)
            x = x + F.embedding(which.long(), self.segments)
        return tap("output", x)

    def rows(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t d_model"]:
        """E[token_t]."""
        return F.embedding(tokens, self.weight)

    def _check(self, tokens: Tensor) -> None:
        if not isinstance(tokens, Tensor):
            raise InputError("tokens_shape", shape="–", dtype=type(tokens).__name__)
        if tokens.dim() != 2 or tokens.dtype not in WHOLE_NUMBERS:
            raise InputError("tokens_shape", shape=tuple(tokens.shape), dtype=str(tokens.dtype).removeprefix("torch."))
        if tokens.shape[1] == 0:
            raise InputError("empty_text")
        outside = first_outside(tokens, self.weight.shape[0])
        if outside is not None:
            raise InputError("token_out_of_range", token=outside, last=self.weight.shape[0] - 1)

    @torch.no_grad()
    def initialize_special(self) -> None:
        """Give special token i the pattern of position i, scaled to the root mean square of the other rows."""
        n = self.special_tokens
        if n == 0 or self.weight.is_meta:
            return
        ordinary = self.weight[n:] if n < self.weight.shape[0] else self.weight
        size = ordinary.square().mean().sqrt()
        pattern = sinusoid(
            torch.arange(n, device=self.weight.device), self.weight.shape[1]
        )  # n d_model, root mean square 1/√2
        self.weight[:n] = (pattern * size * math.sqrt(2.0)).to(self.weight)


def first_outside(ids: Tensor, size: int) -> int | None:
    """An id that is not one of 0 … size-1, if there is one.

    Checked on the CPU only: reading the values would break a compiled graph, and make the host wait for an accelerator.
    """
    if ids.device.type != "cpu" or torch.compiler.is_compiling() or not ids.numel():
        return None
    low, high = int(ids.min()), int(ids.max())
    if low < 0:
        return low
    return high if high >= size else None


class Vectors(nn.Module):
    """Vectors as input, b t d_model: nothing is learned here, only the shape is checked."""

    def __init__(self, *, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        return check_vectors(x, self.d_model)


def check_vectors(x: Tensor, d_model: int) -> Tensor:
    """Returns x if it is b t d_model with at least one position; else raises."""
    if not isinstance(x, Tensor):
        raise InputError("not_a_tensor", given=shown(x), d_model=d_model)
    if x.dim() != 3 or x.shape[-1] != d_model:
        raise InputError("vectors_shape", shape=tuple(x.shape), d_model=d_model)
    if not x.is_floating_point():
        raise InputError("vectors_dtype", dtype=str(x.dtype).removeprefix("torch."))
    if x.shape[1] == 0:
        raise InputError("empty_text")
    return x


def check_precision(x: Tensor, box: nn.Module) -> None:
    """Raises for float64 input to a box of lower precision: torch cannot multiply them, not even under autocast."""
    if x.dtype == torch.float64 and (held := next(box.parameters()).dtype) != torch.float64:
        raise InputError("vectors_precision", dtype=str(held).removeprefix("torch."))


def token_matrix(embedding: nn.Module) -> Tensor | None:
    """The matrix that a tied head shares; None if there are no tokens."""
    return embedding.weight if isinstance(embedding, TokenEmbedding) else None
