"""What each row of a trace computes, read from the steps of the pass: a formula for each tensor shown.

The formulas use the symbols of earlier rows: e embedding, x input of a layer, n output of a norm, Q K V S A H O
attention (C: cross-attention), u and w the stream after them, g h f the feed-forward network, z output of the layer,
y output of the stack. `expression` writes what lies between two rows; the sentences beside them are in words/.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import nn

from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.feed_forward import FEED_FORWARDS
from glassformer.layers.head import ClassifierHead, LanguageModelHead, RegressionHead
from glassformer.models.block import Block
from glassformer.models.encoder import EncoderOnly
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.models.stack import Stack
from glassformer.trace.expression import Expressions
from glassformer.trace.steps import Steps, Tapped


class Label(NamedTuple):
    """A step: its key, the name of its tensor, its formula, and the key of its sentence in words/."""

    key: str
    tap: str
    formula: str
    says: str


class TapName(NamedTuple):
    """What a tap is called in a formula, its key, and its sentence ("": as the key)."""

    symbol: str
    key: str
    says: str = ""


ATTENTION = {
    "q": TapName("Q", "q"),
    "k": TapName("K", "k"),
    "v": TapName("V", "v"),
    "scores": TapName("S", "scores"),
    "weights": TapName("A", "weights"),
    "heads": TapName("H", "heads"),
    "output": TapName("O", "concat"),
}
NETWORK = {"gate": TapName("g", "gate"), "hidden": TapName("h", "hidden"), "output": TapName("f", "network")}
BLOCK = {
    "after_self_attention": TapName("u", "after_self_attention"),
    "after_cross_attention": TapName("w", "after_cross_attention"),
    "output": TapName("z", "output"),
}
PLACES = {"stream": "stream", "queries and keys": "rotary", "scores": "scores", "nothing": "nothing"}


def labels(model: nn.Module, steps: Steps, layer: int) -> Iterator[Label]:
    """One layer of every stack that was run, what comes before and after it, and the head."""
    return _LabelReader(model, steps, layer).labels()


class _LabelReader:
    def __init__(self, model: nn.Module, steps: Steps, layer: int) -> None:
        self.model: Any = model
        self.steps, self.layer = steps, layer
        self.write = Expressions(model, steps)
        self._last = {id(tapped.x): tapped.name for tapped in steps.taps}

    def labels(self) -> Iterator[Label]:
        for tapped in self.steps.taps:
            module = self.model.get_submodule(tapped.path)
            match module:
                case Stack():
                    yield from self._stack(tapped, module)
                case Block():
                    yield from self._block(tapped, module)
                case _ if ".blocks." in tapped.path:
                    if tapped.path.split(".")[2] == str(self.layer):
                        yield from self._inside(tapped, module)
                case _ if tapped.path == "head":
                    yield from self._head(tapped, module)
                case _ if tapped.path.endswith("embedding"):
                    yield self._row(tapped, TapName("e", "embedding"))
                case _ if tapped.tap == "encoding":
                    self.write.names[id(tapped.x)] = "P"

    def _row(self, tapped: Tapped, row: TapName, formula: str = "") -> Label:
        """The formula of a tensor; from here on its symbol stands for it."""
        formula = formula or self.write(tapped.x)
        self.write.names[id(tapped.x)] = row.symbol
        return Label(row.key, tapped.name, f"{row.symbol} = {formula}", row.says or row.key)

    def _stack(self, tapped: Tapped, stack: Any) -> Iterator[Label]:
        if tapped.tap == "input":
            row = TapName("x", "input", f"input_{PLACES[str(stack.positions.acts_on)]}")
            if self.layer == 0:
                yield self._row(tapped, row)
            return
        is_memory = tapped.path == "encoder" and isinstance(self.model, EncoderDecoder)
        yield self._row(tapped, TapName("memory", "memory") if is_memory else TapName("y", "stack"))

    def _block(self, tapped: Tapped, block: Any) -> Iterator[Label]:
        stack, _, number = tapped.path.rpartition(".blocks.")
        at, last = int(number), len(self.model.get_submodule(stack).blocks) - 1
        if at == self.layer:
            row = BLOCK[tapped.tap]
            formula = self.write(tapped.x)
            said = "add" if formula.count(" + ") == 1 else "add_all"
            yield self._row(tapped, row._replace(says="add_norm" if "Norm(" in formula else said), formula)
        elif tapped.tap == "output" and at == self.layer - 1:
            yield self._row(tapped, TapName("x", "input", "input_layer"), f"z of layer {at}")
        elif tapped.tap == "output" and at == last:
            yield self._row(tapped, TapName("z", "stream"), f"z of layer {at}")

    def _inside(self, tapped: Tapped, module: nn.Module) -> Iterator[Label]:
        box = tapped.path.split(".")[3]
        cross = box == "cross_attention"
        if isinstance(module, MultiHeadAttention):
            row = ATTENTION[tapped.tap]
            formula = self.write(tapped.x)
            says = f"{row.key}_memory" if cross and row.key in ("k", "v") else row.key
            if row.key == "weights":
                says += ("_bias" if " + B" in formula else "") + ("_masked" if " + M" in formula else "")
            symbol = "C" if cross and row.symbol == "O" else row.symbol
            yield self._row(tapped, TapName(symbol, f"cross_{row.key}" if cross else row.key, says), formula)
        elif isinstance(module, tuple(FEED_FORWARDS.values())):
            formula = self.write(tapped.x)
            row = NETWORK[tapped.tap]
            yield self._row(tapped, row._replace(says="hidden_gated" if "⊙" in formula else ""), formula)
        elif len(tapped.path.split(".")) == 4 and self._last[id(tapped.x)] == tapped.name:
            yield self._row(tapped, TapName("n", box, "norm"))  # a norm whose output has no other name

    def _head(self, tapped: Tapped, head: Any) -> Iterator[Label]:
        match head, tapped.tap:
            case LanguageModelHead(), _:
                yield self._row(tapped, TapName("logits", "logits"))
                key = "word" if isinstance(self.model, EncoderOnly) else "next"
                yield Label(key, tapped.name, "p = softmax(logits)", key)
            case ((ClassifierHead() | RegressionHead()), "pooled"):
                yield self._row(tapped, TapName("q", "pooled"))
            case ClassifierHead(), "logits":
                yield self._row(tapped, TapName("logits", "logits", "class_logits"))
                squashed = "sigmoid" if tapped.x.shape[-1] == 1 else "softmax"
                yield Label("classes", tapped.name, f"p = {squashed}(logits)", "classes")
            case RegressionHead(), "output":
                yield self._row(tapped, TapName("r", "numbers"))
