"""Follow one sentence through a model: every step with its shape and numbers, and who looks at whom."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.trace.record import Trace, record
from glassformer.words import say

SHOWN = 4  # numbers shown of each step
MOST_TOKENS = 12  # rows and columns of the table of weights; --json has them all


@dataclass(frozen=True)
class Story:
    """One sentence, step by step; prints as a table."""

    model: str
    text: str
    tokens: list[str]
    trace: Trace
    weights: Tensor  # t s, of one head
    layer: int
    head: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "text": self.text,
            "tokens": self.tokens,
            "seed": self.seed,
            "steps": [
                {"name": name, "shape": list(x.shape), "values": x.flatten()[:SHOWN].tolist()}
                for name, x in self.trace.tensors.items()
            ],
            "attention": {"layer": self.layer, "head": self.head, "weights": self.weights.tolist()},
        }

    def __rich__(self) -> RenderableType:
        steps = Table()
        for column in ("step", "shape", "values"):
            steps.add_column(say(f"trace.{column}"), no_wrap=True)
        for name, x in self.trace.tensors.items():
            if ".blocks." in name and f".blocks.{self.layer}." not in name:
                continue
            numbers = "  ".join(f"{value:+.4f}" for value in x.flatten()[:SHOWN].tolist())
            steps.add_row(name, "×".join(map(str, x.shape)), f"{numbers} …")
        attention = Table()
        few = self.tokens[:MOST_TOKENS]
        for token in ("", *few):
            attention.add_column(Text(token), justify="right")
        for token, row in zip(few, self.weights.tolist(), strict=False):
            attention.add_row(Text(token), *(f"{value:.4f}" for value in row[:MOST_TOKENS]))
        title = Text(say("trace.title", model=self.model, text=self.text), style="bold")
        caption = say("trace.weights_of", layer=self.layer, head=self.head)
        return Group(title, steps, caption, attention, say("trace.untrained", seed=self.seed))


def follow(name: str, config: ModelConfig, text: str, *, layer: int = 0, head: int = 0, seed: int = 0) -> Story:
    """Run the text through an untrained model of this configuration. Encoder-decoder: through its encoder."""
    if config.input.kind != "tokens":
        raise InputError("not_text_model", model=name, input=config.input.kind)
    tokens = split(text)
    model = build(config, seed=seed).eval()
    with torch.no_grad(), record(model) as trace:
        ids = number(tokens, config)  # 1 t
        if isinstance(model, EncoderDecoder):
            model.encode(ids)
        else:
            model(ids)
    maps = trace.attention()
    if not (0 <= layer < len(maps) and 0 <= head < maps[0].shape[1]):
        raise InputError(
            "no_such_layer", layer=layer, head=head, last_layer=len(maps) - 1, last_head=maps[0].shape[1] - 1
        )
    return Story(name, text, tokens, trace, maps[layer][0, head], layer, head, seed)


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
