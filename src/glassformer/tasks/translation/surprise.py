"""The teacher-forced loss of a trained model on sentence pairs: nats for each token, nothing smoothed."""

from __future__ import annotations

import torch

from glassformer.data.pairs import Pairs
from glassformer.loading import Loaded
from glassformer.tasks.translation.task import Translation, encode

SENTENCES = 32  # in a batch, of like length


@torch.no_grad()
def total_loss(loaded: Loaded, pairs: Pairs) -> tuple[float, int]:
    """The sum of -ln p over all tokens of the targets, eos included, and their number.

    A sum and no mean, so that groups can be added up before the one division.
    """
    task, store = Translation.make(loaded.config, loaded.vocabularies), encode(pairs, loaded.vocabularies)
    order = sorted(range(len(store)), key=lambda i: int(store.lengths[i].max()))
    nats, tokens = 0.0, 0
    for first in range(0, len(order), SENTENCES):
        batch = task.collate([store[i] for i in order[first : first + SENTENCES]]).to(loaded.device)
        found = task.scores(loaded.model, batch)["loss"]
        nats, tokens = nats + float(found.total), tokens + int(found.count)
    return nats, tokens
