"""Follow one sentence through a model, number by number: from the tokens to the prediction."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.errors import InputError
from glassformer.models.build import build
from glassformer.models.check import check
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.show import Column, Sheet, Table, as_html
from glassformer.trace.labels import Label, labels
from glassformer.trace.record import record
from glassformer.trace.steps import stepping
from glassformer.trace.trace import Trace
from glassformer.words import say

SHOWN = 5  # numbers shown of a vector
LIKELY = ("logits", "next", "word", "classes")  # steps that show their largest numbers, with names
MOST_TOKENS = 12  # rows and columns shown; --json and --save have them all


@dataclass(frozen=True)
class StoryLine:
    """One line of the story: what is computed, its shape, and a row of numbers for each token."""

    label: Label
    numbers: Tensor  # rows …
    shape: str
    tokens: list[str]  # one for each row
    top: list[list[tuple[str, float]]] | None = None  # logits and probabilities: the largest, with names

    @property
    def key(self) -> str:
        return self.label.key

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "step": self.key,
            "name": self.label.tap,
            "formula": self.label.formula,
            "shape": self.shape,
        }
        if self.top is None:
            return found | {"numbers": self.numbers.tolist()}
        return found | {"top": [[{"piece": piece, "value": value} for piece, value in row] for row in self.top]}


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
    network: nn.Module
    labels: tuple[Label, ...]  # what was computed, row by row
    target: list[str] | None = None  # pieces of the target, if the decoder was followed too
    name: Callable[[int], str] = str  # id → readable token

    @property
    def tokens(self) -> list[str]:
        return self.trace.tokens

    def steps(self) -> Iterator[StoryLine]:
        """The pass in order, through one layer of each stack; only the chosen head, without the batch."""
        for label in self.labels:
            yield self._step(label)

    def _step(self, label: Label) -> StoryLine:
        x = self.trace[label.tap][0]  # without the batch
        shape = "×".join(map(str, x.shape)) or "1"
        if x.dim() == 3:
            x = x[self.head * x.shape[0] // self._n_heads]  # a key head may serve several query heads
        rows = x if x.dim() == 2 else x.reshape(1, -1)
        tokens = self._tokens_of(label) if x.dim() == 2 else [""]
        if label.key not in LIKELY:
            return StoryLine(label, rows, shape, tokens)
        rows = _squashed(label, rows)
        best = rows.topk(min(SHOWN, rows.shape[1]))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        named = str if label.says in ("class_logits", "classes") else self.name
        return StoryLine(
            label, rows, shape, tokens, [[(named(i), v) for i, v in zip(*row, strict=True)] for row in pairs]
        )

    def _tokens_of(self, label: Label) -> list[str]:
        """The tokens of the rows: in a decoder with an encoder those of the target, except for keys and values."""
        if self.target is None or label.tap.startswith("encoder.") or label.tap == "embedding.output":
            return self.tokens
        return self.tokens if label.key in ("cross_k", "cross_v") else self.target

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
            "target": self.target,
            "seed": self.seed,
            "layer": self.layer,
            "head": self.head,
            "steps": [step.to_json() for step in self.steps()],
            "attention": self.weights().tolist(),
            "taps": self.trace.to_json(),
        }

    def shown(self) -> Sheet:
        """A row for each step: formula and sentence, shape, and the first numbers of the first tokens."""
        table = Table(
            Column(say("trace.step")),
            Column(say("trace.shape"), "name", drop=1),
            Column(say("trace.tokens"), "name"),
            Column(say("trace.values"), "series"),
            title=say("trace.title", model=self.model, text=self.text),
            lines=True,
        )
        for step in self.steps():
            sentence = say(f"trace.steps.{step.label.says}", layer=self.layer, head=self.head)
            few = step.tokens[:MOST_TOKENS]
            table.add(f"{step.label.formula}\n{sentence}", step.shape, "\n".join(few), "\n".join(_rows(step, len(few))))
        return Sheet(table, *([] if self.seed is None else [say("trace.untrained", seed=self.seed)]))

    def __rich__(self) -> Sheet:
        return self.shown()

    def _repr_html_(self) -> str:
        return as_html(self.shown())


def _squashed(label: Label, logits: Tensor) -> Tensor:
    """Logits → probabilities, if the step is one of probabilities."""
    if label.key == "logits":
        return logits
    return logits.sigmoid() if label.formula.startswith("p = sigmoid") else logits.softmax(-1)


def _rows(step: StoryLine, count: int) -> list[str]:
    """The numbers as printed: all scores and weights, the first few of a longer vector."""
    if step.top is not None:
        return ["  ".join(f"{piece}:{value:.3f}" for piece, value in row) for row in step.top[:count]]
    whole = step.key.endswith(("scores", "weights"))
    shown = MOST_TOKENS if whole else SHOWN
    rows = ["  ".join(f"{value:+.3f}" for value in row[:shown]) for row in step.numbers[:count].tolist()]
    return [f"{row}  …" for row in rows] if step.numbers.shape[1] > shown else rows


class TokenizedText(NamedTuple):
    """A text as a model reads it: pieces for people, and their ids."""

    tokens: list[str]
    ids: Tensor  # 1 t


@dataclass(frozen=True)
class Reader:
    """A trained model, and how it reads source and target texts."""

    model: nn.Module
    source: Callable[[str], TokenizedText]
    target: Callable[[str], TokenizedText]
    name: Callable[[int], str]  # id → readable token


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

    An encoder-decoder runs its encoder; with a target it runs as a whole, up to the next token.
    """
    if config.input.kind != "tokens":
        raise InputError("not_text_model", model=name, input=config.input.kind)
    if target is not None and config.family != "encoder-decoder":
        raise InputError("no_target_side", model=name, family=config.family)
    check(config)
    stack = "decoder" if config.family == "decoder" else "encoder"
    n_layers = config.decoder_layers if stack == "decoder" else config.encoder_layers
    n_layers = n_layers if target is None else min(n_layers, config.decoder_layers)
    if not (0 <= layer < n_layers and 0 <= head < config.n_heads):
        raise InputError("no_such_layer", layer=layer, head=head, last_layer=n_layers - 1, last_head=config.n_heads - 1)
    reader = trained or _untrained(config, seed, f"{text} {target or ''}")
    source, begun = reader.source(text), None if target is None else reader.target(target)
    with torch.no_grad(), record(reader.model) as trace, stepping(reader.model) as steps:
        _run(reader.model, source.ids, None if begun is None else begun.ids)
    trace.tokens = source.tokens
    return Story(
        name,
        text,
        trace,
        stack,
        layer,
        head,
        None if trained else seed,
        reader.model,
        tuple(labels(reader.model, steps, layer)),
        target=None if begun is None else begun.tokens,
        name=reader.name,
    )


def _untrained(config: ModelConfig, seed: int, texts: str) -> Reader:
    """A preset has no tokenizer: words are numbered in order of appearance; other tokens are plain numbers."""
    order = numbered(split_at_spaces(texts), config)
    words = {token: word for word, token in order.items()}

    def read(text: str) -> TokenizedText:
        tokens = split_at_spaces(text)
        return TokenizedText(tokens, torch.tensor([[order[token] for token in tokens]]))  # 1 t

    return Reader(build(config, seed=seed).eval(), read, read, lambda token: words.get(token, f"#{token}"))


def _run(model: nn.Module, source: Tensor, target: Tensor | None) -> None:
    if not isinstance(model, EncoderDecoder):
        model(source)
    elif target is None:
        model.encode(source)
    else:
        model(source, target)


def split_at_spaces(text: str) -> list[str]:
    """Split at spaces, after composing Hangul (NFC): a stand-in for the tokenizer that a preset lacks."""
    tokens = unicodedata.normalize("NFC", text).split()
    if not tokens:
        raise InputError("empty_text")
    return tokens


def numbered(tokens: list[str], config: ModelConfig) -> dict[str, int]:
    """Ids in the order in which words first appear, after the special tokens."""
    return {token: config.special_tokens + i for i, token in enumerate(dict.fromkeys(tokens))}
