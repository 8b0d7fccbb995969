"""A stack of N blocks with what comes before and after it, "N×" in Figure 1: what encoder and decoder share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import torch
from torch import Tensor, nn

from glassformer.config.options import REQUIRED, known_key, parameters
from glassformer.config.values import biases
from glassformer.errors import ConfigError, choose
from glassformer.kernels.dropout import Dropout
from glassformer.layers.attention.mask import Branches, Mask, Packing, check_window
from glassformer.layers.attention.multi_head import MultiHeadAttention, check_heads
from glassformer.layers.embedding import check_precision, check_vectors
from glassformer.layers.norm import NORMS
from glassformer.layers.position import POSITIONS
from glassformer.layers.residual import StochasticDepth, carried
from glassformer.models.block import Block, BlockOptions
from glassformer.models.context import PositionEffect
from glassformer.tap import tap


class Stack(nn.Module):
    r"""positions → [norm] → dropout → N blocks → [final norm], on vectors.

    A pre-norm stream is never normalised on its way, so the stack normalises it at the end: `final_norm` is on for
    "pre" and "parallel" and off for "post" unless given. Stochastic depth rises evenly from 0 to its rate.
    `embedding_norm` normalises what enters, as BERT and BART do; `window` limits how far a token sees
    in the layers from `window_from` on (Qwen2: the lower layers see everything). `causal`: does a position see only
    those before it? By default yes in a decoder (except object queries), no in an encoder.
    """

    block: type[Block]
    bidirectional: bool  # unless `causal` says otherwise

    def __init__(
        self,
        *,
        n_layers: int,
        max_len: int = 5000,
        position: str = "sinusoidal",
        position_options: Mapping[str, Any] | None = None,
        embedding_norm: bool = False,
        final_norm: bool | None = None,
        window: int | None = None,
        window_from: int = 0,
        causal: bool | None = None,
        **block: Unpack[BlockOptions],
    ) -> None:
        super().__init__()
        _check_keywords(block)
        block = _complete(block)
        check_window(window, window_from)
        self.causal = not self.bidirectional if causal is None else causal
        self.d_model, self.window, self.window_from = block["d_model"], window, window_from
        kind, d_model = block["norm"], block["d_model"]
        make_norm = choose("norm", kind, NORMS) if isinstance(kind, str) else kind

        def norm() -> nn.Module:
            return make_norm(d_model, eps=block["eps"], bias="norm" in biases("bias", block["bias"]))

        self.positions = choose("position", position, POSITIONS)(
            **self._sizes(position, max_len, self.causal, block), **(position_options or {})
        )
        self.embedding_norm = norm() if embedding_norm else None
        self.dropout = Dropout(block["dropout"])
        rates = StochasticDepth.rates(block["stochastic_depth"], n_layers)
        self.blocks = nn.ModuleList(self.block(**_with_rate(block, rate)) for rate in rates)
        has_final_norm = has_final_norm_by_default(block) if final_norm is None else final_norm
        self.final_norm = norm() if has_final_norm else None

    def enter(
        self,
        x: Tensor,
        real: Tensor | None,
        past: int = 0,
        documents: Tensor | None = None,
        packing: Packing | None = None,
        branches: Branches | None = None,
    ) -> tuple[Tensor, PositionEffect]:
        """Give the tokens their positions: in the stream, in queries and keys, or in the scores.

        Positions count real tokens only: padding before a sentence does not shift it. If a row
        holds several `documents`, positions restart in each.
        """
        x = check_vectors(x, self.d_model)
        check_precision(x, self)
        longest = None
        if branches is not None:
            at, longest = branches.at, 1  # the tokens are no text: they stand at the same position
        elif packing is not None:
            at, longest = packing.places(x.shape[1]), packing.longest
        else:
            at = places(real, x.shape[1], past, x.device) if documents is None else places_in(documents)
        effect, t = PositionEffect(), x.shape[1]
        positions: Any = self.positions
        match positions.acts_on:
            case "stream":
                x = positions(x, at, longest)
            case "queries and keys":
                effect = PositionEffect(rotation=positions.rotation(at, x.dtype))
            case "scores":
                apart = None if branches is None else branches.distance
                effect = PositionEffect(bias=positions(t, past + t, x) if apart is None else positions.bias(apart, x))
        if self.embedding_norm is not None:
            x = self.embedding_norm(x)
        return self.dropout(carried(tap("input", x))), effect

    def rules(self, everywhere: Mask, t: int, s: int, device: torch.device) -> list[Mask]:
        """Who may look at whom, layer by layer: without the window, then with it, each computed once."""
        far = min(self.window_from, len(self.blocks))
        masks = [everywhere.resolved(t, s, device)] * far
        near = replace(everywhere, window=self.window).resolved(t, s, device)
        return masks + [near] * (len(self.blocks) - far)

    @property
    def packable(self) -> bool:
        """Whether a row may hold several texts at no cost: no window, no bias on scores, attentions that fit."""
        attentions = (module for module in self.modules() if isinstance(module, MultiHeadAttention))
        positions: Any = self.positions
        return self.window is None and positions.acts_on != "scores" and all(one.packable for one in attentions)

    def leave(self, x: Tensor) -> Tensor:
        return tap("output", x if self.final_norm is None else self.final_norm(x))

    @classmethod
    def _sizes(cls, position: str, max_len: int, causal: bool, block: BlockOptions) -> dict[str, Any]:
        check_heads(block["d_model"], block["n_heads"], block["n_kv_heads"], block["d_k"])
        sizes = {
            "d_model": block["d_model"],
            "max_len": max_len,
            "n_heads": block["n_heads"],
            "d_k": block["d_k"] or block["d_model"] // block["n_heads"],
            "bidirectional": not causal,
        }
        names = parameters(choose("position", position, POSITIONS))
        return {name: value for name, value in sizes.items() if name in names}


def _check_keywords(block: BlockOptions) -> None:
    """Raises for an unknown or missing keyword."""
    for name in block:
        known_key(name, BlockOptions.__annotations__)
    if missing := [name for name in ("d_model", "n_heads", "d_ff") if name not in block]:
        raise ConfigError("missing_keywords", names=", ".join(missing))


def _complete(block: BlockOptions) -> BlockOptions:
    """All keywords of `Block`: those that are not given have the defaults of its signature."""
    defaults = {name: each.default for name, each in parameters(Block).items() if each.default is not REQUIRED}
    return {**defaults, **block}  # type: ignore[typeddict-item]


def places(real: Tensor | None, t: int, past: int, device: torch.device) -> Tensor:
    """The positions of the last t of past + t tokens: t, or b t if `real` (b s) marks padding."""
    if real is None:
        return torch.arange(past, past + t, device=device)  # t
    return (real.long().cumsum(1) - 1).clamp(min=0)[:, -t:]  # b t


def places_in(documents: Tensor) -> Tensor:
    """The position of each token in its document, b t; a document is a run of equal numbers."""
    at = torch.arange(documents.shape[1], device=documents.device).expand_as(documents)  # b t
    begins = torch.ones_like(documents, dtype=torch.bool)
    begins[:, 1:] = documents[:, 1:] != documents[:, :-1]
    return at - at.where(begins, 0).cummax(1).values  # b t


def _with_rate(block: BlockOptions, rate: float) -> BlockOptions:
    return {**block, "stochastic_depth": rate}


def has_final_norm_by_default(block: BlockOptions) -> bool:
    return block["norm_order"] != "post"
