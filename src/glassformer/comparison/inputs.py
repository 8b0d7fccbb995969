"""The same inputs for two models: texts as the first one reads them, or a small fixed batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.data.batch import pad
from glassformer.errors import InputError
from glassformer.layers.embedding import TokenEmbedding, Vectors
from glassformer.layers.patch import ImagePatches, SeriesPatches
from glassformer.layers.position import LearnedPositions, SinusoidalPositions
from glassformer.layers.queries import LearnedQueries
from glassformer.loading import Loaded
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.stack import Stack

ROWS, LENGTH, TARGET_LENGTH = 3, 9, 7
SEED = 0
UNBOUNDED = 1 << 30
AnyModel = EncoderOnly | DecoderOnly | EncoderDecoder


@dataclass(frozen=True)
class Entrance:
    """What the encoder or decoder takes: ids below `vocab_size`, or numbers of a shape (vectors: t is free).

    A decoder with learned queries takes nothing: its kind is "queries".
    """

    kind: str  # tokens, vectors, image, series, queries
    vocab_size: int = 0
    shape: tuple[int, ...] = ()  # of one example; for vectors only d_model

    def __str__(self) -> str:
        return " ".join([self.kind, *(["×".join(map(str, self.shape))] if self.shape else [])])


@dataclass(frozen=True)
class Reads:
    """What a whole model takes. A model on the meta device is enough to know it; no weights are loaded."""

    source: Entrance
    target: Entrance | None = None  # what the decoder takes, if there is an encoder
    longest: int = UNBOUNDED  # the length of its table of positions
    pad: int | None = None  # its padding id


@dataclass(frozen=True)
class SharedInput:
    """One input for both models."""

    source: Tensor  # b s, or b … for numbers
    mask: Tensor | None = None  # b s; True = a real token
    target: Tensor | None = None  # b t
    queries: bool = False  # the decoder begins with learned queries: it has positions of its own, and no target


def reads(model: AnyModel) -> Reads:
    """What a model of ours takes, read from its first box."""
    target = None
    if isinstance(model, EncoderDecoder):
        target = _entrance(model.embedding if model.target_embedding is None else model.target_embedding)
    tables = [_table(stack.positions) for stack in model.modules() if isinstance(stack, Stack)]
    return Reads(_entrance(model.embedding), target, min(tables, default=UNBOUNDED))


def _entrance(box: nn.Module) -> Entrance:
    match box:
        case TokenEmbedding():
            return Entrance("tokens", vocab_size=box.weight.shape[0])
        case ImagePatches():
            return Entrance("image", shape=(box.channels, box.size, box.size))
        case SeriesPatches():
            return Entrance("series", shape=(box.channels, box.context))
        case LearnedQueries():
            return Entrance("queries")
    assert isinstance(box, Vectors)
    return Entrance("vectors", shape=(box.d_model,))


def _table(positions: nn.Module) -> int:
    match positions:
        case LearnedPositions():
            return positions.weight.shape[0] - positions.offset
        case SinusoidalPositions():
            return positions.table.shape[0]
    return UNBOUNDED


def common(a: Reads, b: Reads) -> Reads:
    """What both can take: the smaller vocabulary, the shorter table. Raises if no input fits both."""
    target = a.target or b.target
    if a.target is not None and b.target is not None:
        target = _smaller(a.target, b.target)
    padding = a.pad if b.pad is None else b.pad
    return Reads(_smaller(a.source, b.source), target, min(a.longest, b.longest), padding)


def _smaller(a: Entrance, b: Entrance) -> Entrance:
    if (a.kind, a.shape) != (b.kind, b.shape):
        raise InputError("compare_inputs", a=str(a), b=str(b))
    return min(a, b, key=lambda each: each.vocab_size)


def input_batch(inputs: Sequence[str] | Tensor | None, fits: Reads, name: str, loaded: Loaded | None) -> SharedInput:
    """Texts, a tensor as the model takes it, or by default the built-in batch.

    The decoder of an encoder-decoder is fed the model's start token, if it has one, and fixed ids; learned queries
    need no target.
    """
    random = torch.Generator().manual_seed(SEED)
    built_in = _source(fits, random)
    batch = built_in if inputs is None else _given(inputs, fits, name, loaded)
    if fits.target is None:
        return batch
    if fits.target.kind == "queries":
        return replace(batch, queries=True)
    rows = batch.source.shape[0]
    target = _numbers(fits.target, rows, min(TARGET_LENGTH, fits.longest), random)
    if fits.target.kind == "tokens" and loaded is not None and loaded.tokenizers is not None:
        target[:, 0] = min(loaded.start, fits.target.vocab_size - 1)
    return SharedInput(batch.source, batch.mask, target)


def _given(inputs: Sequence[str] | Tensor, fits: Reads, name: str, loaded: Loaded | None) -> SharedInput:
    if isinstance(inputs, Tensor):
        return SharedInput(inputs)
    if fits.source.kind != "tokens":
        raise InputError("not_text_model", model=name, input=fits.source.kind)
    if loaded is None or loaded.tokenizers is None:
        raise InputError("compare_no_tokenizer", model=name)
    framed = [np.array(loaded.framed(text), dtype=np.int32) for text in inputs]
    if not framed or not all(map(len, framed)):
        raise InputError("empty_text")
    padding = loaded.tokenizer.specials.pad if fits.pad is None else fits.pad
    tokens, real = pad(framed, padding or 0)
    if int(tokens.max()) >= fits.source.vocab_size:
        raise InputError("compare_vocabulary", token=int(tokens.max()), last=fits.source.vocab_size - 1)
    return SharedInput(tokens, None if real.all() else torch.from_numpy(real))


def _source(fits: Reads, random: torch.Generator) -> SharedInput:
    length = min(LENGTH, fits.longest)
    numbers = _numbers(fits.source, ROWS, length, random)
    if fits.source.kind != "tokens":
        return SharedInput(numbers)
    padding = fits.pad or 0
    lengths = torch.tensor([length, max(length * 2 // 3, 1), max(length // 3, 1)])
    mask = torch.arange(length) < lengths[:, None]  # b s
    # A real token must not have the padding id: some models derive positions from it.
    numbers = numbers.where(numbers != padding, (padding + 1) % fits.source.vocab_size)
    return SharedInput(numbers.masked_fill(~mask, padding), mask)


def _numbers(entrance: Entrance, rows: int, length: int, random: torch.Generator) -> Tensor:
    match entrance.kind:
        case "tokens":
            return torch.randint(entrance.vocab_size, (rows, length), generator=random)  # b t
        case "vectors":
            return torch.randn(rows, length, *entrance.shape, generator=random)  # b t d_model
    return torch.randn(rows, *entrance.shape, generator=random)  # b c …


def real_places(tap: str, shape: tuple[int, ...], batch: SharedInput) -> Tensor | None:
    """Which numbers of a tap belong to real tokens, broadcast to its shape; None where all do.

    Padding is computed but never used: two models that agree may differ there.
    """
    if batch.mask is None:
        return None
    path, _, last = tap.partition("#")[0].rpartition(".")
    one_sided = batch.target is None and not batch.queries
    of_source = one_sided or ("#" not in tap and path.split(".")[0] in ("embedding", "encoder"))
    rows = batch.mask[:, None, :, None] if of_source else None  # b 1 t 1
    keys_are_source = of_source or path.endswith("cross_attention")
    match last:
        case "q" | "heads":
            return rows
        case "k" | "v":
            return batch.mask[:, None, :, None] if keys_are_source else None  # b 1 s 1
        case "scores" | "weights":
            columns = batch.mask[:, None, None, :] if keys_are_source else None  # b 1 1 s
            return columns if rows is None or columns is None else rows & columns
    along = of_source and len(shape) == 3 and shape[:2] == tuple(batch.mask.shape)
    return batch.mask[:, :, None] if along else None  # b t 1
