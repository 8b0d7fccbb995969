from __future__ import annotations

import torch
from torch import Tensor, nn

from glassformer.lessons.families.recall import ASK, KEYS, LONGEST, Lstm, _size, draw, models, recall, train_recall


class Oracle(nn.Module):
    """Looks for the only token that is a key."""

    def forward(self, tokens: Tensor) -> Tensor:
        key = torch.where(tokens < KEYS, tokens, 0).amax(1)
        return nn.functional.one_hot(key, KEYS).float()


def test_the_key_stands_where_it_should() -> None:
    tokens, key = draw(5, torch.Generator().manual_seed(0), distance=3)
    assert (tokens[:, -1] == ASK).all() and tokens.shape == (5, LONGEST + 1)
    assert (tokens[:, -4] == key).all()
    assert ((tokens < KEYS).sum(1) == 1).all()


def test_recall_counts_what_is_right() -> None:
    assert recall(Oracle(), 1) == recall(Oracle(), LONGEST) == 1.0


def test_both_have_as_many_parameters() -> None:
    sizes = {kind: sum(p.numel() for p in model.parameters()) for kind, model in models(0).items()}
    assert abs(sizes["lstm"] - sizes["transformer"]) / sizes["transformer"] < 0.03
    assert sum(p.numel() for p in Lstm(20).parameters()) == _size(20)


def test_another_seed_is_another_course() -> None:
    first, second = (train_recall(models(seed)["lstm"], seed, 2) for seed in (0, 1))
    assert first.at == second.at == [2]
    assert first.final != second.final
