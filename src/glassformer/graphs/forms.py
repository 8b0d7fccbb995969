"""Which graphs a model becomes, and what goes in and out of each: tensors only, for ONNX knows no cache objects.

    encoder alone            model       input → answer
    decoder alone            decoder     new tokens, the keys and values so far → logits, all keys and values
    encoder and decoder      encoder     source → keys and values of the memory, computed once
                             decoder     new tokens, the memory, the keys and values so far → logits, all of them

One graph is both the first pass and a step: its past may have length 0, and any number of tokens may be new. The
models are called as they are; only their arguments are put together here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from glassformer.config.recipe import RunConfig
from glassformer.data.picture import statistic
from glassformer.errors import ConfigError
from glassformer.layers.attention import Cache, KeyValues, LayerCache, MultiHeadAttention
from glassformer.layers.embedding import token_matrix
from glassformer.layers.head import LanguageModelHead, NoHead, ObjectsHead
from glassformer.models.block import Block
from glassformer.models.decoder import Decoder, DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.tasks.forecasting.task import Forecasting

BATCH, LENGTH, SOURCE, PAST, ALL = "batch", "length", "source_length", "past_length", "all_length"
Axes = tuple[str | int, ...]  # a name for an axis of any size, a number for a fixed one


@dataclass(frozen=True)
class GraphInput:
    """One input: its axes and its type; of whole numbers, the first that is too large."""

    axes: Axes
    dtype: torch.dtype = torch.float32
    below: int = 0

    def sample(self, sizes: dict[str, int], generator: torch.Generator) -> Tensor:
        """Random values of these sizes. Of yes and no: yes, except at the start of the first row, as padding is."""
        shape = [sizes[axis] if isinstance(axis, str) else axis for axis in self.axes]
        if self.dtype == torch.bool:
            real = torch.ones(shape, dtype=torch.bool)
            real[0, : max(shape[1] - 2, 0) // 2] = False
            return real
        if self.dtype == torch.int64:
            return torch.randint(self.below, shape, generator=generator)
        return torch.randn(shape, generator=generator)


@dataclass(frozen=True)
class Graph:
    """One file: a module that takes these inputs, in this order, and returns these outputs."""

    name: str
    module: nn.Module
    inputs: dict[str, GraphInput]
    outputs: tuple[str, ...]

    def samples(self, sizes: dict[str, int], seed: int = 0) -> tuple[Tensor, ...]:
        generator = torch.Generator().manual_seed(seed)
        return tuple(each.sample(sizes, generator) for each in self.inputs.values())


def graphs_of(model: nn.Module, config: RunConfig) -> list[Graph]:
    """All graphs of a model."""
    refuse_fixed_length(config)
    if isinstance(model, EncoderDecoder) and model.decoder.causal and config.task.kind != "features":
        return _two_sides(model, config)
    if isinstance(model, DecoderOnly) and isinstance(model.head, LanguageModelHead) and config.task.kind != "features":
        return [_writer(model, config)]
    return [_whole(model, config)]


def refuse_fixed_length(config: RunConfig) -> None:
    """Raises where a text would have to have one length: the axes of a graph vary."""
    if config.model.input.kind == "tokens" and config.model.head.options.get("pool") == "flatten":
        raise ConfigError("onnx_unsupported", key="head.pool", value="flatten")


class WholeGraph(nn.Module):
    """An input, and which of it is real where it is a text: the answer of the head in one pass."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.model(*inputs)


class StreamGraph(nn.Module):
    """What `embed` pools: the input of the head, for an encoder-decoder the memory; then what the head makes of it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, real: Tensor, *segments: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        model = self.model
        if isinstance(model, EncoderDecoder):
            return model.encode(tokens, real)
        assert isinstance(model, EncoderOnly | DecoderOnly)
        x = model.embedding(tokens, *segments)  # b t d_model
        x = model.encoder(x, real=real) if isinstance(model, EncoderOnly) else model.decoder(x, real=real)
        return x if isinstance(model.head, NoHead) else (x, model.head(x, real, token_matrix(model.embedding)))


class PictureGraph(nn.Module):
    """Pixels from 0 to 1, b c size size, and a prompt if the model reads one: mean and deviation are in the graph."""

    def __init__(self, model: nn.Module, mean: Tensor, std: Tensor) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.mean: Tensor
        self.std: Tensor

    def forward(self, *given: Tensor) -> Tensor | tuple[Tensor, ...]:
        pixels, *prompt = given
        found: Tensor = self.model((pixels - self.mean) / self.std, *prompt)
        head = self.model.head
        return tuple(ObjectsHead.split(found)) if isinstance(head, ObjectsHead) else found


class SeriesGraph(nn.Module):
    """A scaled past, b context → its scaled future, b horizon: the norm of the window is part of the graph."""

    def __init__(self, model: nn.Module, task: Forecasting) -> None:
        super().__init__()
        self.model, self.task = model, task

    def forward(self, past: Tensor) -> Tensor:
        return self.task.predict(self.model, past)


class WriterGraph(nn.Module):
    """A decoder alone with its cache as tensors: k and v of each layer in turn."""

    def __init__(self, model: DecoderOnly) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, real: Tensor, *past: Tensor) -> tuple[Tensor, ...]:
        cache = Cache([LayerCache(KeyValues(k, v)) for k, v in _pairs(past)])
        logits: Tensor = self.model(tokens, real, cache=cache)
        return logits, *_kept(cache)


class ReaderGraph(nn.Module):
    """The encoder, and what every layer of the decoder will look at: the keys and values of the memory.

    A decoder computes them in its first step, so it takes one; whatever else that step computes is in no output, and
    the graph leaves it out.
    """

    def __init__(self, model: EncoderDecoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, source_real: Tensor) -> tuple[Tensor, ...]:
        memory = self.model.encode(source, source_real)
        cache = self.model.decoder.empty_cache()
        begins = memory.new_zeros(memory.shape[0], 1, memory.shape[2])
        self.model.decoder(begins, memory, memory_real=source_real, cache=cache)
        return tuple(x for layer in cache.layers for x in layer.memory.whole())


class TellerGraph(nn.Module):
    """The decoder of an encoder-decoder: the memory as k and v of each layer, then the past in the same way."""

    def __init__(self, model: EncoderDecoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, source_real: Tensor, *kept: Tensor) -> tuple[Tensor, ...]:
        memory, past = _pairs(kept[: len(kept) // 2]), _pairs(kept[len(kept) // 2 :])
        cache = Cache(
            [LayerCache(KeyValues(*own), KeyValues(*seen, fixed=True)) for own, seen in zip(past, memory, strict=True)]
        )
        b, s = source_real.shape
        stands_for = kept[0].new_zeros(b, s, self.model.decoder.d_model)  # only its shape is read: see `remembered`
        logits = self.model.decode(tokens, stands_for, None, source_real, cache=cache)
        return logits, *_kept(cache)


def _pairs(tensors: Sequence[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(tensors[::2], tensors[1::2], strict=True)


def _kept(cache: Cache) -> tuple[Tensor, ...]:
    return tuple(x for layer in cache.layers for x in layer.past.whole())


def _whole(model: nn.Module, config: RunConfig) -> Graph:
    given = config.model.input
    outputs: tuple[str, ...] = ("logits",)
    match given.kind:
        case "image":
            size, channels = int(given.options["size"]), int(given.options.get("channels", 3))
            mean, std = (statistic(key, config.task.options.get(key), channels) for key in ("mean", "std"))
            outputs = ("logits", "boxes") if config.model.head.kind == "objects" else outputs
            outputs = ("stream",) if config.model.head.kind == "none" else outputs
            inputs = {"pixels": GraphInput((BATCH, channels, size, size))}
            if config.model.target_vocab_size is not None:
                inputs["prompt"] = _tokens(config.model.target_vocab_size)
            return Graph("model", PictureGraph(model, mean, std), inputs, outputs)
        case "series" if config.task.kind == "forecasting":
            inputs = {"past": GraphInput((BATCH, int(given.options["context"])))}
            return Graph("model", SeriesGraph(model, Forecasting.make(config)), inputs, ("future",))
        case "series":
            channels = int(given.options.get("channels", 1))
            inputs = {"series": GraphInput((BATCH, channels, int(given.options["context"])))}
            return Graph("model", WholeGraph(model), inputs, outputs)
    first = (
        _tokens(config.model.vocab_size)
        if given.kind == "tokens"
        else GraphInput((BATCH, LENGTH, config.model.d_model))
    )
    inputs = {"tokens" if given.kind == "tokens" else "vectors": first, "real": GraphInput((BATCH, LENGTH), torch.bool)}
    if config.model.segments and config.model.family == "encoder":
        inputs["segments"] = GraphInput((BATCH, LENGTH), torch.int64, config.model.segments)
    if config.task.kind == "features":
        alone = isinstance(model, EncoderDecoder) or config.model.head.kind == "none"
        return Graph("model", StreamGraph(model), inputs, ("stream",) if alone else ("stream", "pooled"))
    return Graph("model", WholeGraph(model), inputs, outputs)


def _writer(model: DecoderOnly, config: RunConfig) -> Graph:
    past = _cache_inputs(model.decoder, "past", PAST)
    inputs = {"tokens": _tokens(config.model.vocab_size), "real": GraphInput((BATCH, ALL), torch.bool), **past}
    return Graph("decoder", WriterGraph(model), inputs, ("logits", *_grown(past)))


def _two_sides(model: EncoderDecoder, config: RunConfig) -> list[Graph]:
    real = {"source_real": GraphInput((BATCH, SOURCE), torch.bool)}
    memory, past = _cache_inputs(model.decoder, "memory", SOURCE), _cache_inputs(model.decoder, "past", PAST)
    source = {"source": _tokens(config.model.vocab_size, SOURCE)}
    tokens = {"tokens": _tokens(config.model.output_vocab_size)}
    return [
        Graph("encoder", ReaderGraph(model), source | real, tuple(memory)),
        Graph("decoder", TellerGraph(model), tokens | real | memory | past, ("logits", *_grown(past))),
    ]


def _tokens(vocab_size: int | None, length: str = LENGTH) -> GraphInput:
    assert vocab_size is not None
    return GraphInput((BATCH, length), torch.int64, vocab_size)


def _cache_inputs(decoder: Decoder, what: str, length: str) -> dict[str, GraphInput]:
    """k and v of each layer, b g s d."""
    found: dict[str, GraphInput] = {}
    for layer, block in enumerate(decoder.blocks):
        assert isinstance(block, Block)
        attention: MultiHeadAttention = block.self_attention  # its cross-attention has the same sizes
        for name, width in (("k", attention.d_k), ("v", attention.d_v)):
            found[f"{what}_{name}_{layer}"] = GraphInput((BATCH, attention.n_kv_heads, length, width))
    return found


def _grown(past: dict[str, GraphInput]) -> list[str]:
    return [name.replace("past", "all") for name in past]
