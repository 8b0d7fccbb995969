"""The loss of a language model on whole texts of any length, in windows that overlap by half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from glassformer.data.batch import pad
from glassformer.data.store import TokenIds
from glassformer.losses import IGNORE
from glassformer.tasks.result import ExampleProgress

TOKENS = 8192  # of a batch


@dataclass(frozen=True)
class Foreseen:
    """Σ −ln p over `tokens` tokens, and how many of them the model found most likely."""

    nats: float
    tokens: int
    right: int

    def __add__(self, other: Foreseen) -> Foreseen:
        return Foreseen(self.nats + other.nats, self.tokens + other.tokens, self.right + other.right)


def cut(row: TokenIds, context: int, stride: int) -> Iterator[tuple[TokenIds, int]]:
    """Windows of at most `context` + 1 tokens, `stride` apart, and how many tokens of each are given, not predicted.

    Every token but the first is predicted once: in the first window from all tokens before it, in later ones from at
    least `context` − `stride` tokens.
    """
    foreseen = 1
    for start in range(0, max(len(row) - 1 - context, 0) + stride, stride):
        window = row[start : start + context + 1]
        if start + len(window) > foreseen:
            yield window, foreseen - start
            foreseen = start + len(window)


@torch.no_grad()
def foresee(
    model: nn.Module,
    rows: Sequence[TokenIds],
    context: int,
    stride: int | None = None,
    progress: ExampleProgress = lambda done, total: None,
) -> Foreseen:
    """Predict all of these rows, by default in windows half a context apart, so that every token sees at least as much.

    Only the first half context of a row sees less. `stride` = `context`: windows without overlap, as in training.
    """
    device = next(model.parameters()).device
    windows = [window for row in rows for window in cut(row, context, stride or max(context // 2, 1))]
    windows.sort(key=lambda window: len(window[0]))
    total, done = Foreseen(0.0, 0, 0), 0
    while done < len(windows):
        widest = len(windows[min(done + TOKENS // 2, len(windows) - 1)][0])
        some = windows[done : done + max(1, TOKENS // widest)]
        read, _ = pad([window[:-1] for window, _ in some], 0)
        targets, _ = pad([_given(window, given) for window, given in some], IGNORE)
        logits = model(read.to(device))  # b t v
        wanted = targets.to(device)
        nats = F.cross_entropy(logits.flatten(0, 1).float(), wanted.flatten(), ignore_index=IGNORE, reduction="sum")
        right = int((logits.argmax(-1) == wanted).sum())
        total += Foreseen(float(nats), int((targets != IGNORE).sum()), right)
        done += len(some)
        progress(done, len(windows))
    return total


def _given(window: TokenIds, given: int) -> TokenIds:
    targets = window[1:].copy()
    targets[: given - 1] = IGNORE
    return targets
