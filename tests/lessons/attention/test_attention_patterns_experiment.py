from __future__ import annotations

import pytest
import torch

from glassformer.lessons.attention.attention_patterns_experiment import allowed, divergence, short


def test_heads_that_look_alike_are_not_apart_and_heads_without_a_common_key_are_one_bit_apart() -> None:
    same = torch.tensor([[[[0.5, 0.5]], [[0.5, 0.5]]]], dtype=torch.float64)  # b h t s
    opposite = torch.tensor([[[[1.0, 0.0]], [[0.0, 1.0]]]], dtype=torch.float64)
    assert float(divergence(same)) == pytest.approx(0.0, abs=1e-12)
    assert float(divergence(opposite)) == pytest.approx(1.0)


def test_three_heads_are_three_pairs() -> None:
    two_alike = torch.tensor([[[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]]], dtype=torch.float64)
    assert float(divergence(two_alike)) == pytest.approx(2 / 3)


def test_what_may_be_seen_follows_from_the_batch() -> None:
    mask = torch.tensor([[True, True, False]])
    square = torch.zeros(1, 2, 3, 3)
    assert allowed("decoder-1", square, mask)[0, 0].tolist() == torch.ones(3, 3).tril().bool().tolist()
    assert allowed("cross-1", square, mask)[0, 0].tolist() == [[True, True, False]] * 3
    assert allowed("encoder-1", square, None).all()


def test_short_names() -> None:
    assert short("decoder.blocks.1.cross_attention.weights") == "cross-2"
    assert short("encoder.blocks.0.self_attention.weights") == "encoder-1"
