"""What each step of a pass computes, read off the model itself: a formula for each tensor, in the order of the pass.

The formulas name the rows before them: e the embedding, x what enters a layer, n what a norm makes of it, Q K V S A H
and O attention (C cross-attention), u and w the stream behind them, g h f the network, z what leaves the layer, y what
leaves the stack. This is the one place that knows which form a model has; the sentences beside them are in words/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from torch import Tensor, nn

from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.feed_forward import GatedFeedForward
from glassformer.layers.feed_forward.activation import ACTIVATIONS
from glassformer.layers.head import ClassifierHead, LanguageModelHead, RegressionHead
from glassformer.models.decoder import DecoderOnly
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.stack import Stack

WRITTEN = {
    "relu": "max(0, {})",
    "gelu": "GELU({})",
    "gelu_tanh": "GELU_tanh({})",
    "silu": "SiLU({})",
    "sigmoid": "σ({})",
}
POOLED = {"cls": "y[first]", "sep": "y[last]", "mean": "mean(y)", "max": "max(y)", "flatten": "flatten(y)", "each": "y"}


class Label(NamedTuple):
    """A step: its key, the name of its tensor, its formula, and the key of its sentence in words/."""

    key: str
    tap: str
    formula: str
    says: str


def labels(model: nn.Module, layer: int, *, target: bool) -> Iterator[Label]:
    """One layer of every stack that was run, what comes before and behind it, and the head."""
    whole: Any = model
    if isinstance(model, EncoderDecoder):
        yield from _stack("encoder", whole.embedding, whole.encoder, layer, memory=True)
        if not target:
            return
        if whole.target_embedding is None:  # one table for both sides: its second use in the pass
            yield from _stack("decoder", whole.embedding, whole.decoder, layer, read="embedding.output#2")
        else:
            own = "target_embedding.output"
            yield from _stack("decoder", whole.target_embedding, whole.decoder, layer, read=own)
    else:
        name = "decoder" if isinstance(model, DecoderOnly) else "encoder"
        yield from _stack(name, whole.embedding, getattr(whole, name), layer)
    yield from _head(whole.head, causal=not isinstance(model, EncoderOnly))


def _stack(
    name: str, embedding: Any, stack: Any, layer: int, *, memory: bool = False, read: str = "embedding.output"
) -> Iterator[Label]:
    """`read`: the tap of its embedding. `memory`: it is the encoder of a decoder."""
    path, last = f"{name}.blocks", len(stack.blocks) - 1
    scale = "" if embedding.scale == 1.0 else "√d_model · "
    segments = "" if embedding.segments is None else " + S[segment]"
    yield Label("embedding", read, f"e = {scale}E[token]{segments}", "embedding")
    if layer == 0:
        entered = "e + P" if stack.positions.acts_on == "stream" else "e"
        entered = entered if stack.embedding_norm is None else f"{_name(stack.embedding_norm)}({entered})"
        yield Label("input", f"{name}.input", f"x = {entered}", f"input_{_place(stack)}")
    else:
        yield Label("input", f"{path}.{layer - 1}.output", f"x = z of layer {layer - 1}", "input_layer")
    yield from _block(f"{path}.{layer}", stack, layer)
    if layer < last:
        yield Label("stream", f"{path}.{last}.output", f"z = z of layer {last}", "stream")
    end, symbol = ("memory", "memory") if memory else ("stack", "y")
    formula = "z" if stack.final_norm is None else f"{_name(stack.final_norm)}(z)"
    yield Label(end, f"{name}.output", f"{symbol} = {formula}", end)


def _block(path: str, stack: Any, layer: int) -> Iterator[Label]:
    """One layer: what a norm stands in front of is said of n, else of the stream itself."""
    block: Any = stack.blocks[layer]
    masked = stack.causal or (stack.window is not None and layer >= stack.window_from)
    order, added = block.norm_order, ["x"]
    stream = "x"
    if order == "parallel":
        yield Label("norm", f"{path}.norm.output", f"n = {_name(block.norm)}(x)", "norm")
    for box, after in (("self_attention", "u"), ("cross_attention", "w"), ("feed_forward", "z")):
        part, norm = getattr(block, box), getattr(block, f"{box}_norm")
        if part is None:
            continue
        entry = stream if order == "post" else "n"
        if order == "pre":
            yield Label(f"{box}_norm", f"{path}.{box}_norm.output", f"n = {_name(norm)}({stream})", "norm")
        made = {"self_attention": "O", "cross_attention": "C", "feed_forward": "f"}[box]
        match box:
            case "self_attention":
                yield from _attention(f"{path}.{box}", part, entry, entry, stack.positions.acts_on, masked, made)
            case "cross_attention":
                yield from _attention(f"{path}.{box}", part, entry, "memory", "nothing", False, made, mark="cross_")
            case _:
                yield from _network(f"{path}.{box}", part, entry)
        added.append(made)
        if order != "parallel":
            tap = "output" if box == "feed_forward" else f"after_{box}"
            yield _add(tap, f"{path}.{tap}", after, f"{stream} + {made}", norm, order)
            stream = after
    if order == "parallel":
        yield Label("output", f"{path}.output", f"z = {' + '.join(added)}", "add_all")


def _add(key: str, tap: str, symbol: str, added: str, norm: nn.Module, order: str) -> Label:
    """The residual connection: a plain sum, or in post-norm the norm of the sum."""
    if order == "pre":
        return Label(key, tap, f"{symbol} = {added}", "add")
    return Label(key, tap, f"{symbol} = {_name(norm)}({added})", "add_norm")


def _attention(
    path: str, box: MultiHeadAttention, query: str, keys: str, acts: str, masked: bool, made: str, mark: str = ""
) -> Iterator[Label]:
    """`acts`: what the positions act on; they turn Q and K, or add B to the scores."""
    of = "_memory" if mark else ""

    def turned(product: str, norm: nn.Module | None) -> str:
        product = product if norm is None else f"{_name(norm)}({product})"
        return f"rotate({product})" if acts == "queries and keys" else product

    yield Label(f"{mark}q", f"{path}.q", f"Q = {turned(_linear(query, box.w_q, 'Q'), box.q_norm)}", "q")
    yield Label(f"{mark}k", f"{path}.k", f"K = {turned(_linear(keys, box.w_k, 'K'), box.k_norm)}", f"k{of}")
    yield Label(f"{mark}v", f"{path}.v", f"V = {_linear(keys, box.w_v, 'V')}", f"v{of}")
    scale = " / √d_k" if box.scale == box.d_k**-0.5 else "" if box.scale == 1.0 else f" · {box.scale:g}"
    yield Label(f"{mark}scores", f"{path}.scores", f"S = Q Kᵀ{scale}", "scores")
    inside = "S" + (" + B" if acts == "scores" else "") + (" + M" if masked else "")
    says = "weights" + ("_bias" if acts == "scores" else "") + ("_masked" if masked else "")
    yield Label(f"{mark}weights", f"{path}.weights", f"A = softmax({inside})", says)
    yield Label(f"{mark}heads", f"{path}.heads", "H = A V", "heads")
    yield Label(f"{mark}concat", f"{path}.output", f"{made} = {_linear('concat(H)', box.w_o, 'O')}", "concat")


def _network(path: str, box: Any, entry: str) -> Iterator[Label]:
    act = _activation(box.activation)
    if isinstance(box, GatedFeedForward):
        yield Label("gate", f"{path}.gate", f"g = {act.format(_linear(entry, box.w_gate, 'gate'))}", "gate")
        yield Label("hidden", f"{path}.hidden", f"h = g ⊙ ({_linear(entry, box.w_1, '1')})", "hidden_gated")
    else:
        yield Label("hidden", f"{path}.hidden", f"h = {act.format(_linear(entry, box.w_1, '1'))}", "hidden")
    yield Label("network", f"{path}.output", f"f = {_linear('h', box.w_2, '2')}", "network")


def _head(head: Any, *, causal: bool) -> Iterator[Label]:
    match head:
        case LanguageModelHead():
            x = "y"
            if head.transform is not None and head.norm is not None:
                x = f"{_name(head.norm)}({_activation(head.activation).format('y W_t + b_t')})"
            x = x if head.scale == 1.0 else f"({x} / √d_model)"
            matrix = "Eᵀ" if head.weight is None else "Wᵀ"
            more = (" + b" if head.bias is not None else "") + (" + c" if head.offset is not None else "")
            yield Label("logits", "head.logits", f"logits = {x} {matrix}{more}", "logits")
            yield Label(
                "next" if causal else "word", "head.logits", "p = softmax(logits)", "next" if causal else "word"
            )
        case ClassifierHead():
            yield Label("pooled", "head.pooled", f"q = {POOLED[head.pool]}", "pooled")
            if head.output is not None:
                pooled = "q" if head.pooler is None else "tanh(q W_p + b_p)"
                yield Label("logits", "head.logits", f"logits = {_linear(pooled, head.output, '')}", "class_logits")
                squashed = "sigmoid" if head.output.out_features == 1 else "softmax"
                yield Label("classes", "head.logits", f"p = {squashed}(logits)", "classes")
        case RegressionHead():
            yield Label("pooled", "head.pooled", f"q = {POOLED[head.pool]}", "pooled")
            yield Label("numbers", "head.output", f"r = {_linear('q', head.output, '')}", "numbers")


def _linear(x: str, box: nn.Linear, name: str) -> str:
    end = f"_{name}" if name else ""
    return f"{x} W{end}" if box.bias is None else f"{x} W{end} + b{end}"


def _name(norm: nn.Module | None) -> str:
    return type(norm).__name__


def _place(stack: Stack) -> str:
    kinds = {"stream": "stream", "queries and keys": "rotary", "scores": "scores", "nothing": "nothing"}
    return kinds[str(stack.positions.acts_on)]


def _activation(function: Callable[[Tensor], Tensor]) -> str:
    return next((WRITTEN[name] for name, one in ACTIVATIONS.items() if one is function), "activation({})")
