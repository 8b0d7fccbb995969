"""What leaves the model: the "Linear" of Figure 1 and its relatives for classes and numbers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.account import Row, held, linear
from glassformer.errors import InputError
from glassformer.layers.feed_forward.activation import ACTIVATIONS
from glassformer.layers.norm import LayerNorm
from glassformer.tap import tap
from glassformer.tape import Shadow, Tape
from glassformer.values import one_of

POOLS = ("cls", "sep", "mean", "max", "flatten")


def pool(x: Float[Tensor, "b t d"], how: str, mask: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b d"]:
    """One vector for a whole sequence; padding never takes part.

    cls: the first real position. sep: the last real one, where [SEP] stands. mean, max: over the real positions.
    flatten: all positions one behind the other, for inputs of a fixed length.
    """
    if how == "flatten":
        return x.flatten(1)  # b t·d
    if mask is None:
        match how:
            case "cls":
                return x[:, 0]  # b d
            case "sep":
                return x[:, -1]  # b d
            case "mean":
                return x.mean(1)  # b d
        return x.amax(1)  # b d
    real = mask[..., None]  # b t 1
    if how == "mean":
        return (x * real).sum(1) / real.sum(1).clamp(min=1)  # b d
    if how == "max":
        largest = x.masked_fill(~real, torch.finfo(x.dtype).min).amax(1)  # b d
        return torch.where(real.any(1), largest, 0.0)  # b d
    at = torch.arange(x.shape[1], device=x.device)  # t
    first, last = mask.long().argmax(1), torch.where(mask, at, 0).amax(1)  # b, b
    return x[torch.arange(x.shape[0], device=x.device), first if how == "cls" else last]  # b d


def shadow_pool(tape: Tape, x: Shadow, how: str) -> Shadow:
    """One position, or all side by side, is a view of the whole stream; the largest must know where it was."""
    match how:
        case "cls" | "sep":
            return x.view("b", "d_model")
        case "flatten":
            return x.view("b", "positions×d_model")
        case "mean":
            return tape.new("b", "d_model")
    largest = tape.new("b", "d_model")
    tape.keep(x, "pool.input")
    tape.keep(largest, "pool.output")
    return largest


class NoHead(nn.Module):
    """The stream itself, b t d_model."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: Tensor, mask: Tensor | None = None, embedding: Tensor | None = None) -> Tensor:
        return x

    @staticmethod
    def shadow(tape: Tape, x: Shadow) -> None:
        """Nothing happens, nothing is kept."""

    @staticmethod
    def account() -> tuple[Row, ...]:
        return ()


class LanguageModelHead(nn.Module):
    r"""The pre-softmax projection, §3.4: one logit for every token of the vocabulary.

        logits = x Eᵀ (+ b)      E: the embedding itself when tied (Press & Wolf 2017), else a matrix of its own

    `transform` puts a dense layer, GELU and LayerNorm in front (BERT's masked language model); `scale` divides x by
    √d_model first (T5, tied).
    Differs from the paper: nothing by default.
    """

    def __init__(
        self,
        *,
        d_model: int,
        vocab_size: int,
        tied: bool = False,
        bias: bool = False,
        scale: bool = False,
        transform: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.scale = d_model**-0.5 if scale else 1.0
        self.transform = nn.Linear(d_model, d_model) if transform else None
        self.norm = LayerNorm(d_model, eps=eps) if transform else None
        self.weight = None if tied else nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if bias else None

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Tensor | None = None, embedding: Float[Tensor, "v d"] | None = None
    ) -> Float[Tensor, "b t v"]:
        if self.transform is not None and self.norm is not None:
            x = self.norm(ACTIVATIONS["gelu"](self.transform(x)))  # b t d
        if self.scale != 1.0:
            x = x * self.scale
        weight = embedding if self.weight is None else self.weight
        assert weight is not None  # a tied head is given the embedding by its model
        return tap("logits", F.linear(x, weight, self.bias))  # b t v

    @staticmethod
    def shadow(tape: Tape, x: Shadow, *, scale: bool = False, transform: bool = False, **_: object) -> None:
        if transform:
            with tape.at("transform"):
                x = LayerNorm.shadow(tape, tape.activation(tape.linear(x, "d_model", "transform"), "gelu"))
        if scale:
            x = tape.new(*x.shape)
        tape.linear(x, "vocab_size", "logits")

    @staticmethod
    def account(
        *,
        d_model: int,
        vocab_size: int,
        tied: bool = False,
        bias: bool = False,
        scale: bool = False,
        transform: bool = False,
        eps: float = 1e-5,
    ) -> tuple[Row, ...]:
        values = {"d_model": d_model, "vocab_size": vocab_size}
        rows: tuple[Row, ...] = ()
        if transform:
            dense = (*linear("transform", "d_model", "d_model", bias=True),)
            norm = LayerNorm.account("norm", "d_model", bias=True)
            rows = (Row("transform", "head.transform", (*dense, *norm), values),)
        weight = () if tied else (held("weight", "vocab_size", "d_model"),)
        offset = (held("bias", "vocab_size"),) if bias else ()
        return (*rows, Row("", "head.language_model", (*weight, *offset), values, tied="embedding" if tied else ""))


class ClassifierHead(nn.Module):
    r"""A class for a whole sequence: pool, then one linear layer.

        logits = pool(x) W + b

    `pooler` puts BERT's dense layer with tanh in between; `classes=0` stops after it (BERT without a task).
    Differs from the paper: the paper has none.
    """

    def __init__(
        self, *, d_model: int, classes: int, pool: str = "cls", pooler: bool = False, bias: bool = True
    ) -> None:
        super().__init__()
        self.pool = one_of("head.pool", pool, POOLS)
        self.pooler = nn.Linear(d_model, d_model) if pooler else None
        self.output = nn.Linear(d_model, classes, bias=bias) if classes else None

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"] | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b classes"]:
        pooled = tap("pooled", pool(x, self.pool, mask))  # b d
        if self.pooler is not None:
            pooled = torch.tanh(self.pooler(pooled))  # b d
        return tap("logits", self.output(pooled)) if self.output is not None else pooled  # b classes

    @staticmethod
    def shadow(tape: Tape, x: Shadow, *, classes: int, pool: str = "cls", pooler: bool = False, **_: object) -> None:
        pooled = shadow_pool(tape, x, pool)
        if pooler:
            with tape.at("pooler"):
                tape.linear(pooled, "d_model", "pooler")
                pooled = tape.new("b", "d_model")
                tape.keep(pooled, "tanh")
        if classes:
            with tape.at("", classes=classes):
                tape.linear(pooled, "classes", "output")

    @staticmethod
    def account(
        *, d_model: int, classes: int, pool: str = "cls", pooler: bool = False, bias: bool = True
    ) -> tuple[Row, ...]:
        values = {"d_model": d_model, "classes": classes}
        rows: tuple[Row, ...] = ()
        if pooler:
            rows = (Row("pooler", "head.pooler", linear("pooler", "d_model", "d_model", bias=True), values),)
        if classes:
            output = linear("output", "d_model", "classes", bias=bias)
            rows = (*rows, Row("", "head.classifier", output, values))
        return rows


class RegressionHead(nn.Module):
    r"""Numbers for a whole sequence, a forecast for example: pool, then one linear layer.

        y = pool(x) W + b

    With `pool="flatten"` every one of the `positions` has weights of its own (PatchTST).
    Differs from the paper: the paper has none.
    """

    def __init__(
        self,
        *,
        d_model: int,
        outputs: int,
        pool: str = "mean",
        positions: int = 1,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pool, self.positions, self.dropout = one_of("head.pool", pool, POOLS), positions, dropout
        self.output = nn.Linear(d_model * (positions if pool == "flatten" else 1), outputs, bias=bias)

    def forward(
        self, x: Float[Tensor, "b t d"], mask: Bool[Tensor, "b t"] | None = None, embedding: Tensor | None = None
    ) -> Float[Tensor, "b outputs"]:
        if self.pool == "flatten" and x.shape[1] != self.positions:
            raise InputError("flatten_positions", length=x.shape[1], positions=self.positions)
        pooled = F.dropout(tap("pooled", pool(x, self.pool, mask)), self.dropout, self.training)  # b d
        return tap("output", self.output(pooled))  # b outputs

    @staticmethod
    def shadow(
        tape: Tape,
        x: Shadow,
        *,
        outputs: int,
        pool: str = "mean",
        positions: int = 1,
        dropout: float = 0.0,
        **_: object,
    ) -> None:
        with tape.at("", outputs=outputs, positions=positions):
            tape.linear(tape.dropout(shadow_pool(tape, x, pool), dropout), "outputs", "output")

    @staticmethod
    def account(
        *,
        d_model: int,
        outputs: int,
        pool: str = "mean",
        positions: int = 1,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> tuple[Row, ...]:
        d_in = "positions×d_model" if pool == "flatten" else "d_model"
        values = {"d_model": d_model, "outputs": outputs, "positions": positions}
        return (Row("", "head.regression", linear("output", d_in, "outputs", bias=bias), values),)


HEADS: dict[str, type[NoHead] | type[LanguageModelHead] | type[ClassifierHead] | type[RegressionHead]] = {
    "none": NoHead,
    "language_model": LanguageModelHead,
    "classifier": ClassifierHead,
    "regression": RegressionHead,
}
