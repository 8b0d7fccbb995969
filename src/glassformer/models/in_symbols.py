"""A model in symbols: the same plan and the same boxes, built from sizes that keep their names, and a pass through it.

Only the layers of a stack that differ are built: the first two before `window_from` and the first two from it on. The
first layer also pays for tables that all layers share, so it differs from the second; all others equal the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.options import parameters
from glassformer.layers.attention import Cache, KeyValues, LayerCache
from glassformer.layers.patch import SeriesPatches
from glassformer.layers.position import POSITIONS
from glassformer.models.block import Block
from glassformer.models.check import GIVEN, check, input_positions
from glassformer.models.context import Memory, PositionEffect
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.parts import MODELS, Box, model_parts
from glassformer.symbols.run import RenameAxes, SymbolicRun
from glassformer.symbols.size import Dim
from glassformer.symbols.tensor import Storage, Symbolic

STACKS = ("encoder", "decoder")
NO_SIZES = ("n_layers", "window", "window_from", "special_tokens")
DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}


@dataclass(frozen=True)
class InSymbols:
    """A model with its distinct layers, and for each layer of the whole model the one that it equals."""

    model: nn.Module
    layers: dict[str, list[int]]

    @cached_property
    def _times(self) -> dict[tuple[str, str], int]:
        return {(stack, str(layer)): n for stack, like in self.layers.items() for layer, n in Counter(like).items()}

    def times(self, path: str) -> int:
        """How often this path occurs in the whole model: once, or once in every layer equal to its own."""
        stack, _, inside = path.partition(".blocks.")
        return self._times.get((stack, inside.partition(".")[0]), 1)

    def everywhere(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Every path of the whole model in order, each with the equal path in the layers that were built."""
        alone: dict[str, dict[str, list[str]]] = {}  # stack → layer → what is in it, in the order of the paths
        order: list[str] = []
        for path in paths:
            stack, _, inside = path.partition(".blocks.")
            layer, _, rest = inside.partition(".")
            if (stack, layer) not in self._times:
                order.append(path)
                continue
            if stack not in alone:
                alone[stack] = {}
                order.append(f"{stack}.blocks.")
            alone[stack].setdefault(layer, []).append(rest)
        for path in order:
            stack = path.removesuffix(".blocks.")
            if stack == path:
                yield path, path
                continue
            for number, like in enumerate(self.layers[stack]):
                for rest in alone[stack].get(str(like), ()):
                    yield f"{path}{number}.{rest}", f"{path}{like}.{rest}"


def in_symbols(config: ModelConfig, run: SymbolicRun, kernel: str = "fused") -> InSymbols:
    """The model of a configuration. `run` creates its tensors."""
    check(config)
    parts, layers = model_parts(config), {}
    for name, box in parts.items():
        if name in STACKS:
            layers[name] = _shorten(box.options)
            box.options["kernel"] = kernel
    with run:
        model = MODELS[config.family](**{name: box.make(**named_sizes(box)) for name, box in parts.items()})
    return InSymbols(model, layers)


@lru_cache(maxsize=1024)
def number_of_values(config: ModelConfig) -> int:
    """The number of values in parameters and buffers of a model."""
    built = in_symbols(config, SymbolicRun())
    tensors = (*built.model.named_parameters(), *built.model.named_buffers())
    return sum(int(x.numel()) * built.times(path) for path, x in tensors)


def _shorten(stack: dict[str, Any]) -> list[int]:
    """Leave only the distinct layers; return for each layer the one that it equals."""
    far = min(stack["window_from"], stack["n_layers"]) if stack["window"] is not None else 0
    near = stack["n_layers"] - far
    first = min(far, 2)
    like = [min(layer, 1) for layer in range(far)] + [first + min(layer, 1) for layer in range(near)]
    stack["n_layers"], stack["window_from"] = first + min(near, 2), first
    return like


def named_sizes(box: Box) -> dict[str, Any]:
    """The keywords of a box with named sizes: d_model=512 becomes a 512 that is called d_model."""
    options = _complete(box.make, box.options)
    if "n_heads" in options and "d_model" in options:  # heads of the default size have names too
        options["n_kv_heads"] = options.get("n_kv_heads") or options["n_heads"]
        options["d_k"] = options.get("d_k") or options["d_model"] // options["n_heads"]
        options["d_v"] = options.get("d_v") or options["d_k"]
    if "position_options" in options:
        own = _complete(POSITIONS[options["position"]], options["position_options"] or {})
        options["position_options"] = _dims({key: own[key] for key in own if key not in GIVEN})
    if box.make is SeriesPatches and options["channels"] == 1:
        return {**_dims(options), "channels": 1}  # a single channel is not written
    return _dims(options)


def _complete(make: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, completed by the default sizes of the box."""
    return {name: each.default for name, each in parameters(make).items() if type(each.default) is int} | dict(options)


def _dims(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: Dim(name, value) if type(value) is int and value and name not in NO_SIZES else value
        for name, value in options.items()
    }


@dataclass(frozen=True)
class Lengths:
    """How much text: rows, positions of the source and of the target, positions already in the cache."""

    batch: int
    source: int
    target: int
    past: int = 0


def pass_lengths(config: ModelConfig, batch: int, length: int, target_length: int | None, past: int) -> Lengths:
    """The lengths of a pass. Patches and learned queries have a fixed number of positions."""
    source = input_positions(config) or length
    target = source if config.family == "decoder" else config.queries or target_length or length
    return Lengths(batch, source, target, past)


def axis_names(config: ModelConfig, cached: bool) -> RenameAxes:
    """The names of axes by place: the input of a stack has t positions, keys and values have s."""

    def rename(name: str, x: Symbolic) -> Symbolic:
        path, _, last = name.rpartition(".")
        if last == "output" and path.endswith("embedding"):
            return _renamed(x, 1, "t", whole=True)
        is_memory = name == "encoder.output" and config.family == "encoder-decoder"
        if is_memory or (last in ("w_k", "w_v") and not (cached and path.endswith("self_attention"))):
            return _renamed(x, 1, "s")
        return x

    return rename


def _renamed(x: Symbolic, axis: int, letter: str, *, whole: bool = False) -> Symbolic:
    """The same tensor with a letter for an axis. `whole`: it fills its storage, whose size gets the letter too."""
    old, new = x.shape[axis], Dim(letter, x.shape[axis])
    if whole:
        x.storage_.size = tuple(each.renamed(old, new) if isinstance(each, Dim) else each for each in x.storage_.size)
    return x.view_of([new if i == axis else size for i, size in enumerate(x.shape)], x.order)


def run_pass(
    config: ModelConfig, run: SymbolicRun, built: InSymbols, sizes: Lengths, *, training: bool
) -> Cache | None:
    """One pass from inputs to outputs, recorded in `run.steps`. When decoding, returns the cache after it."""
    model: Any = built.model.train(training)
    may_decode = config.family != "encoder" and config.causal
    sizes = sizes if may_decode else replace(sizes, past=0)  # a model that sees everything at once has no past
    cache = model.decoder.empty_cache() if may_decode and (sizes.past or not training) else None
    run.rename_axes = axis_names(config, cached=bool(sizes.past))
    run.steps.clear()
    b, source, target = Dim("b", sizes.batch), Dim("t", sizes.source), Dim("t", sizes.target)
    blocks = {path: module for path, module in model.named_modules() if isinstance(module, Block)}
    handles = [block.register_forward_pre_hook(_mark(run, path), with_kwargs=True) for path, block in blocks.items()]
    handles += [block.register_forward_hook(lambda *_: run.mark("leave", "", ())) for block in blocks.values()]
    try:
        with run.watching(model):
            if cache is not None and sizes.past:
                _fill(run, model, cache, b, target, sizes)
            _call(config, run, model, (b, source, target), cache, sizes.past)
    finally:
        for handle in handles:
            handle.remove()
    return cache


def _mark(run: SymbolicRun, path: str) -> Any:
    """A hook that records the inputs of a block: the stream, the memory, and what positions give to attention."""

    def enter(block: nn.Module, given: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        effect: PositionEffect = keywords["positions"]
        inputs = [each.x if isinstance(each, Memory) else each for each in given]
        angles = [] if effect.rotation is None else [effect.rotation.cos, effect.rotation.sin]
        tensors = [x for x in (*inputs, *angles, effect.bias) if isinstance(x, Symbolic)]
        run.mark("enter", path, tuple(tensors))

    return enter


def _fill(run: SymbolicRun, model: Any, cache: Cache, b: int, t: int, sizes: Lengths) -> None:
    """Fill the cache with s − t past keys and values, so that with the t new ones there are s."""
    for layer, block in zip(cache.layers, model.decoder.blocks, strict=True):
        own, cross = block.self_attention, block.cross_attention
        layer.past = _known(run, own, b, Dim("s", sizes.past + sizes.target) - t)
        if cross is not None:
            layer.memory = _known(run, cross, b, Dim("s", sizes.source), fixed=True)
    assert isinstance(cache.layers[0], LayerCache)


def _known(run: SymbolicRun, box: Any, b: int, positions: int, *, fixed: bool = False) -> KeyValues:
    k, v = (run.new((b, box.n_kv_heads, positions, d), given=True) for d in (box.d_k, box.d_v))
    return KeyValues(k, v, fixed)


def _call(
    config: ModelConfig, run: SymbolicRun, model: Any, sizes: tuple[int, int, int], cache: Cache | None, past: int
) -> None:
    b, source, target = sizes
    if not isinstance(model, EncoderDecoder):
        if cache is None:
            model(_input(config, run, b, source))
        else:
            model(_input(config, run, b, source), cache=cache)
        return
    memory: Tensor
    if past:  # the encoder has run already
        memory = _given(run, (b, Dim("s", source), config.d_model), run.dtype)
    else:
        memory = model.encode(_input(config, run, b, source))
    begins = None
    if not config.queries:
        tokens = config.output_vocab_size is not None
        begins = _given(run, (b, target), torch.int64) if tokens else _vectors(run, config, b, target)
    model.decode(begins, memory, cache=cache)


def _input(config: ModelConfig, run: SymbolicRun, b: int, t: int) -> Symbolic:
    options = config.input.options
    match config.input.kind:
        case "tokens":
            return _given(run, (b, t), torch.int64)
        case "image":
            size = Dim("size", options["size"])
            return _given(run, (b, Dim("channels", options.get("channels", 3)), size, size), run.dtype)
        case "series":
            channels = options.get("channels", 1)
            whole = Dim("context", options["context"])
            return _given(run, (b, channels if channels == 1 else Dim("channels", channels), whole), run.dtype)
    return _vectors(run, config, b, t)


def _vectors(run: SymbolicRun, config: ModelConfig, b: int, t: int) -> Symbolic:
    return _given(run, (b, t, Dim("d_model", config.d_model)), run.dtype)


def _given(run: SymbolicRun, shape: tuple[int, ...], dtype: torch.dtype) -> Symbolic:
    """An input of the model: not counted as kept memory, and without a gradient."""
    return Symbolic(shape, dtype, Storage((), given=True), trained=False)
