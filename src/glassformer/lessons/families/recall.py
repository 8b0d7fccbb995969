"""A test of memory: recall a key token from somewhere in noise at the end; two models of equal size learn it."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.models.build import build

KEYS = 8  # the tokens to remember
NOISE = 16
ASK = KEYS + NOISE  # the last token of every sequence
LONGEST = 64
DISTANCES = (1, 2, 4, 8, 16, 32, 64)
WIDTH, D_FF, LAYERS, N_HEADS = 32, 64, 2, 4
STEPS, BATCH, RATE = 600, 32, 3e-3
EVERY = 50
TESTED = 256  # sequences for each distance


class Lstm(nn.Module):
    """An LSTM (Hochreiter and Schmidhuber 1997), torch's own; its last state predicts the key."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(ASK + 1, WIDTH)
        self.cells = nn.LSTM(WIDTH, hidden, batch_first=True)
        self.output = nn.Linear(hidden, KEYS)

    def forward(self, tokens: Tensor) -> Tensor:
        states, _ = self.cells(self.embedding(tokens))  # b t hidden
        logits: Tensor = self.output(states[:, -1])  # b keys
        return logits


def models(seed: int) -> dict[str, nn.Module]:
    """Both models, with the same number of parameters as nearly as integer widths allow."""
    config = ModelConfig.from_dict(
        {
            "family": "encoder",
            "vocab_size": ASK + 1,
            "max_len": LONGEST + 1,
            "d_model": WIDTH,
            "d_ff": D_FF,
            "n_heads": N_HEADS,
            "n_encoder_layers": LAYERS,
            "norm_order": "pre",
            "head": {"kind": "classifier", "classes": KEYS, "pool": "sep"},  # the last position, as in the LSTM
        }
    )
    transformer = build(config, seed=seed)
    wanted = sum(p.numel() for p in transformer.parameters())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        lstm = Lstm(min(range(8, 128), key=lambda hidden: abs(_size(hidden) - wanted)))
    return {"transformer": transformer, "lstm": lstm}


def _size(hidden: int) -> int:
    return (ASK + 1) * WIDTH + 4 * hidden * (WIDTH + hidden + 2) + KEYS * (hidden + 1)


def draw(count: int, random: torch.Generator, distance: int | None = None) -> tuple[Tensor, Tensor]:
    """Sequences, b t, and their keys, b: noise, a key `distance` before the question (None: anywhere), the question."""
    tokens = torch.randint(KEYS, KEYS + NOISE, (count, LONGEST + 1), generator=random)
    tokens[:, -1] = ASK
    key = torch.randint(KEYS, (count,), generator=random)
    back = torch.randint(1, LONGEST + 1, (count,), generator=random) if distance is None else torch.tensor(distance)
    tokens[torch.arange(count), LONGEST - back] = key
    return tokens, key


@dataclass(frozen=True)
class Course:
    """Recall at the longest distance during training, and at every distance at the end."""

    at: list[int] = field(default_factory=list)
    far: list[float] = field(default_factory=list)
    final: list[float] = field(default_factory=list)


def train_recall(model: nn.Module, seed: int, steps: int) -> Course:
    """Trains with Adam; both models of a seed see the same sequences."""
    random, course = torch.Generator().manual_seed(seed), Course()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for step in range(1, steps + 1):
        tokens, key = draw(BATCH, random)
        loss = F.cross_entropy(model(tokens), key)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % EVERY == 0 or step == steps:
            course.at.append(step)
            course.far.append(recall(model, LONGEST))
    course.final.extend(recall(model, distance) for distance in DISTANCES)
    return course


@torch.no_grad()
def recall(model: nn.Module, distance: int) -> float:
    """The share of keys recalled at one distance, always on the same sequences."""
    tokens, key = draw(TESTED, torch.Generator().manual_seed(1_000_000 + distance), distance)
    return float((model(tokens).argmax(-1) == key).float().mean())
