"""The teacher-forced loss of a trained model on sentence pairs: nats for each token, nothing smoothed."""

from __future__ import annotations

import torch

from glassformer.data.pairs import Pairs
from glassformer.data.store import Store
from glassformer.open import Loaded
from glassformer.tasks import make_task

SENTENCES = 32  # in a batch, of like length


@torch.no_grad()
def total_loss(loaded: Loaded, pairs: Pairs) -> tuple[float, int]:
    """The sum of -ln p over all tokens of the targets, eos included, and their number.

    A sum and no mean, so that groups can be added up before the one division.
    """
    special = loaded.vocabularies.target.specials
    task = make_task(loaded.config, pad=special.need("pad"), bos=special.need("bos"), eos=special.need("eos"))
    sides = {
        "source": loaded.vocabularies.source.encode_batch(pairs.sources),
        "target": loaded.vocabularies.target.encode_batch(pairs.targets),
    }
    store = Store.of(sides)
    order = sorted(range(len(store)), key=lambda i: int(store.lengths[i].max()))
    nats, tokens = 0.0, 0
    for first in range(0, len(order), SENTENCES):
        batch = task.collate([store[i] for i in order[first : first + SENTENCES]]).to(loaded.device)
        found = task.scores(loaded.model, batch)["loss"]
        nats, tokens = nats + float(found.total), tokens + int(found.count)
    return nats, tokens
