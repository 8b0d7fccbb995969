from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glassformer.data.pairs import Pairs
from glassformer.loading import load
from glassformer.tasks.translation.surprise import total_loss
from small_translator import ENGLISH, KOREAN, trained


def test_the_sum_is_that_of_every_sentence_alone(tmp_path: Path) -> None:
    loaded = load(trained(tmp_path))
    pairs = Pairs(KOREAN * 2, ENGLISH * 2)  # more than one batch
    nats, tokens = total_loss(loaded, pairs)
    special, by_hand = loaded.vocabularies.target.specials, 0.0
    for source, target in pairs:
        ids = [*loaded.vocabularies.target.encode(target), special.need("eos")]
        given = torch.tensor([[*loaded.vocabularies.source.encode(source), special.need("eos")]])
        with torch.no_grad():
            logits = loaded.model(given, torch.tensor([[special.need("bos"), *ids[:-1]]]))
        by_hand -= float(logits[0].log_softmax(-1)[torch.arange(len(ids)), ids].sum())
    assert nats == pytest.approx(by_hand, rel=1e-4)
    assert tokens == sum(len(target.split()) + 1 for target in pairs.targets)
