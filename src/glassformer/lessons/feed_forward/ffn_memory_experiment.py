"""Facts and a rule taught to one small decoder: (subject, relation) → object by heart, and copying the first word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.models.build import build
from glassformer.trace.edit import Change, edit, zero
from glassformer.trace.record import record

WORDS = 48  # subjects and objects are the same words, so guessing is as hard in both tasks
RELATIONS = 6
BEGIN, COPY, FIRST_WORD = 0, 1, 2 + RELATIONS  # the tokens: begin, copy, relations, words
LAYERS = 2
RARE = 0.2  # of the pairs to copy are never shown in training
COPIES = 96  # in a step, beside all facts
TOP = 8  # hidden units taken for a fact's own
RATE = 3e-3
CONFIG = ModelConfig(
    family="decoder",
    vocab_size=FIRST_WORD + WORDS,
    max_len=4,
    d_model=48,
    n_heads=4,
    d_ff=192,
    n_decoder_layers=LAYERS,
    norm_order="pre",
    position=Choice("learned"),
    tie_embeddings="all",
    head=Choice("language_model"),
)
SUBLAYERS = {"attention": "self_attention", "feed_forward": "feed_forward"}


@dataclass(frozen=True)
class Questions:
    """Three tokens each, and the token that comes next."""

    tokens: Tensor  # n 3
    answers: Tensor  # n


def facts(random: torch.Generator) -> Questions:
    """Every subject in every relation has one object, drawn at random: there is no rule to find."""
    subject = torch.arange(WORDS).repeat(RELATIONS) + FIRST_WORD
    relation = torch.arange(RELATIONS).repeat_interleave(WORDS) + 2
    answers = torch.randint(WORDS, (len(subject),), generator=random) + FIRST_WORD
    return Questions(torch.stack([torch.full_like(subject, BEGIN), subject, relation], 1), answers)


def copies(random: torch.Generator) -> tuple[Questions, Questions]:
    """Two words and the word "copy": the answer is the first. Pairs to learn from, and pairs never shown."""
    first = torch.arange(WORDS).repeat(WORDS) + FIRST_WORD
    second = torch.arange(WORDS).repeat_interleave(WORDS) + FIRST_WORD
    tokens = torch.stack([first, second, torch.full_like(first, COPY)], 1)
    kept = torch.rand(len(tokens), generator=random) < RARE
    return Questions(tokens[~kept], first[~kept]), Questions(tokens[kept], first[kept])


def taught(seed: int, steps: int) -> tuple[nn.Module, dict[str, Questions]]:
    """A decoder that has seen all facts and some copies so many times; the facts, and copies it has not seen."""
    random = torch.Generator().manual_seed(seed)
    known, (shown, unseen) = facts(random), copies(random)
    model = build(CONFIG, seed=seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / 20) * (1 - step / steps)
        chosen = torch.randint(len(shown.tokens), (COPIES,), generator=random)
        tokens = torch.cat([known.tokens, shown.tokens[chosen]])
        answers = torch.cat([known.answers, shown.answers[chosen]])
        optimizer.zero_grad()
        F.cross_entropy(model(tokens)[:, -1], answers).backward()
        optimizer.step()
    return model.eval(), {"facts": known, "copy": unseen}


@torch.no_grad()
def right(model: nn.Module, asked: Questions) -> float:
    """The share of questions whose answer is the likeliest next token."""
    return float((model(asked.tokens)[:, -1].argmax(-1) == asked.answers).double().mean())


def switched_off(model: nn.Module, asked: Questions) -> dict[str, float]:
    """What is right with nothing, one sub-layer, or one kind of sub-layer in all layers switched off."""
    off: dict[str, dict[str, Change]] = {"nothing": {}} | {
        f"{name}_{layer if layer is not None else 'all'}": {
            f"decoder.blocks.{'*' if layer is None else layer}.{path}.output": zero()
        }
        for name, path in SUBLAYERS.items()
        for layer in (None, *range(LAYERS))
    }
    found = {}
    for name, edits in off.items():
        with edit(model, edits):
            found[name] = right(model, asked)
    return found


def units(model: nn.Module, known: Questions, seed: int) -> dict[str, Any]:
    """Recall when each fact loses its own most active hidden units, as many of another fact, or as many at random."""
    names = [f"decoder.blocks.{layer}.feed_forward.hidden" for layer in range(LAYERS)]
    with record(model, names) as trace, torch.no_grad():
        model(known.tokens)
    own = {name: _strongest(trace[name][:, -1]) for name in names}  # n d_ff
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(known.answers), generator=random)
    chosen = {
        "own": own,
        "of_another": {name: mask[order] for name, mask in own.items()},
        "any": {name: _strongest(torch.rand(mask.shape, generator=random)) for name, mask in own.items()},
    }
    found: dict[str, Any] = {"top": TOP, "of": CONFIG.d_ff}
    for kind, masks in chosen.items():
        with edit(model, {name: _without(mask) for name, mask in masks.items()}):
            found[kind] = right(model, known)
    return found


def _strongest(hidden: Tensor) -> Tensor:
    """True at the largest units of each row."""
    mask = torch.zeros_like(hidden, dtype=torch.bool)
    return mask.scatter(1, hidden.topk(TOP, dim=1).indices, True)  # n d_ff


def _without(mask: Tensor) -> Change:
    return lambda hidden: hidden.masked_fill(mask[:, None], 0.0)  # n t d_ff
