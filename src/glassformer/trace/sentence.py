"""Follow one sentence through a model, number by number: tokens, Q, K, V, scores, softmax, heads, concatenation."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from torch import Tensor, nn

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.models.build import build
from glassformer.models.check import check
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.trace.record import record
from glassformer.trace.trace import Trace
from glassformer.words import say

SHOWN = 5  # numbers shown of a vector
MOST_TOKENS = 12  # rows and columns shown; --json and --save have them all


@dataclass(frozen=True)
class Step:
    """One line of the story: what is computed, of which shape, a row of numbers for each token."""

    key: str  # of its sentence in words/
    tap: str
    numbers: Tensor  # t …
    shape: str


@dataclass(frozen=True)
class Story:
    """One sentence through one layer and one head; prints as a table."""

    model: str
    text: str
    trace: Trace
    stack: str  # "encoder" or "decoder"
    layer: int
    head: int
    seed: int | None  # None: the model is trained

    @property
    def tokens(self) -> list[str]:
        return self.trace.tokens

    def steps(self) -> Iterator[Step]:
        """The pass of one layer in order. Heads: the chosen one, without the batch."""
        block = f"{self.stack}.blocks.{self.layer}"
        attention = f"{block}.self_attention"
        order = {
            "embedding": "embedding.output",
            "input": f"{self.stack}.input" if self.layer == 0 else f"{self.stack}.blocks.{self.layer - 1}.output",
            "q": f"{attention}.q",
            "k": f"{attention}.k",
            "v": f"{attention}.v",
            "scores": f"{attention}.scores",
            "weights": f"{attention}.weights",
            "heads": f"{attention}.heads",
            "concat": f"{attention}.output",
            "after_self_attention": f"{block}.after_self_attention",
            "hidden": f"{block}.feed_forward.hidden",
            "output": f"{block}.output",
        }
        for key, name in order.items():
            if name in self.trace:
                x = self.trace[name][0]  # without the batch
                shape = "×".join(map(str, x.shape))
                if x.dim() == 3:
                    x = x[self.head * x.shape[0] // self._n_heads]  # a head of keys may serve several of queries
                yield Step(key, name, x, shape)

    @property
    def _n_heads(self) -> int:
        return self.trace[f"{self.stack}.blocks.{self.layer}.self_attention.q"].shape[1]

    def weights(self) -> Tensor:
        return self.trace[f"{self.stack}.blocks.{self.layer}.self_attention.weights"][0, self.head]  # t s

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "text": self.text,
            "tokens": self.tokens,
            "seed": self.seed,
            "layer": self.layer,
            "head": self.head,
            "steps": [
                {"step": step.key, "name": step.tap, "shape": step.shape, "numbers": step.numbers.tolist()}
                for step in self.steps()
            ],
            "attention": self.weights().tolist(),
            "taps": self.trace.to_json(),
        }

    def __rich__(self) -> RenderableType:
        table = Table(show_lines=True)
        table.add_column(say("trace.step"))
        table.add_column(say("trace.shape"), no_wrap=True)
        table.add_column(say("trace.tokens"), no_wrap=True)
        table.add_column(say("trace.values"), no_wrap=True)
        few = self.tokens[:MOST_TOKENS]
        for step in self.steps():
            square = step.key in ("scores", "weights")
            rows = [self._row(numbers, len(few) if square else SHOWN, square) for numbers in step.numbers[: len(few)]]
            label = Text(say(f"trace.steps.{step.key}", layer=self.layer, head=self.head))
            table.add_row(label, step.shape, Text("\n".join(few)), "\n".join(rows))
        title = Text(say("trace.title", model=self.model, text=self.text), style="bold")
        return Group(title, table, *([] if self.seed is None else [say("trace.untrained", seed=self.seed)]))

    @staticmethod
    def _row(numbers: Tensor, shown: int, whole: bool) -> str:
        values = "  ".join(f"{value:+.3f}" for value in numbers[:shown].tolist())
        return values if whole or len(numbers) <= shown else f"{values}  …"


class Reading(NamedTuple):
    """A text as a model reads it: pieces for people, and their ids."""

    tokens: list[str]
    ids: Tensor  # 1 t


@dataclass(frozen=True)
class Reader:
    """A trained model, and how it reads the text of either side."""

    model: nn.Module
    source: Callable[[str], Reading]
    target: Callable[[str], Reading]


def follow(
    name: str,
    config: ModelConfig,
    text: str,
    *,
    target: str | None = None,
    layer: int = 0,
    head: int = 0,
    seed: int = 0,
    trained: Reader | None = None,
) -> Story:
    """Run the text through a trained model, or through an untrained one of this configuration.

    Encoder-decoder: through its encoder, and with a target through the whole model.
    """
    if config.input.kind != "tokens":
        raise InputError("not_text_model", model=name, input=config.input.kind)
    check(config)
    stack = "decoder" if config.family == "decoder" else "encoder"
    n_layers = config.decoder_layers if stack == "decoder" else config.encoder_layers
    if not (0 <= layer < n_layers and 0 <= head < config.n_heads):
        raise InputError("no_such_layer", layer=layer, head=head, last_layer=n_layers - 1, last_head=config.n_heads - 1)
    reader = trained or _untrained(config, seed)
    source = reader.source(text)
    with torch.no_grad(), record(reader.model) as trace:
        _run(reader.model, source.ids, None if target is None else reader.target(target).ids)
    trace.tokens = source.tokens
    return Story(name, text, trace, stack, layer, head, None if trained else seed)


def _untrained(config: ModelConfig, seed: int) -> Reader:
    def read(text: str) -> Reading:
        tokens = split(text)
        return Reading(tokens, number(tokens, config))

    return Reader(build(config, seed=seed).eval(), read, read)


def _run(model: nn.Module, source: Tensor, target: Tensor | None) -> None:
    if not isinstance(model, EncoderDecoder):
        model(source)
    elif target is None:
        model.encode(source)
    else:
        model(source, target)


def split(text: str) -> list[str]:
    """At blanks, after composing Hangul (NFC): what stands in for a tokenizer where a preset has none."""
    tokens = unicodedata.normalize("NFC", text).split()
    if not tokens:
        raise InputError("empty_text")
    return tokens


def number(tokens: list[str], config: ModelConfig) -> Tensor:
    """Ids in the order in which words first appear, after the special tokens."""
    order = {token: config.special_tokens + i for i, token in enumerate(dict.fromkeys(tokens))}
    return torch.tensor([[order[token] for token in tokens]])  # 1 t
