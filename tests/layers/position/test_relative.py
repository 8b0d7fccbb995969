from __future__ import annotations

from itertools import product

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from glassformer.errors import ConfigError
from glassformer.layers.position import RelativePositions
from glassformer.layers.position.relative import distances


def test_distances_count_from_the_query_to_the_key() -> None:
    cpu = torch.device("cpu")
    assert distances(3, 3, cpu).tolist() == [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]]
    assert distances(2, 4, cpu).tolist() == [[-2, -1, 0, 1], [-3, -2, -1, 0]]


@pytest.mark.parametrize(
    ("bidirectional", "sizes"), list(product((True, False), ((32, 128), (8, 20), (64, 1000), (4, 3))))
)
def test_buckets_are_those_of_t5(bidirectional: bool, sizes: tuple[int, int]) -> None:
    buckets, max_distance = sizes
    positions = RelativePositions(n_heads=2, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    distance = torch.arange(-1500, 1501)
    expected = T5Attention._relative_position_bucket(distance, bidirectional, buckets, max_distance)
    assert torch.equal(positions.bucket(distance), expected)
    assert set(expected.tolist()) <= set(range(buckets))


def test_near_distances_have_a_bucket_each_by_hand() -> None:
    positions = RelativePositions(n_heads=1, bidirectional=True)
    # 16 buckets a side, of which 8 exact; keys to the right start at 16.
    assert positions.bucket(torch.tensor([0, -1, -7, 1, 7])).tolist() == [0, 1, 7, 17, 23]
    # beyond: 8 + ⌊ln(d/8) / ln(128/8) · 8⌋
    assert positions.bucket(torch.tensor([-8, -12, -64, -127, -128, -9999])).tolist() == [8, 9, 14, 15, 15, 15]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"buckets": 2}, "position.buckets=2 with max_distance=128 makes no buckets; use a multiple of 4, and "),
        ({"max_distance": 16}, "position.buckets=32 with max_distance=16 makes no buckets; use a multiple of 4, and "),
        ({"buckets": 0}, "position.buckets=0 is out of range; use 1 to 2147483647"),
        ({"max_distance": -1}, "position.max_distance=-1 is out of range; use 1 to 2147483647"),
        ({"n_heads": 0}, "n_heads=0 is out of range; use 1 to 2147483647"),
    ],
)
def test_what_makes_no_buckets_is_refused(options: dict[str, int], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RelativePositions(**{"n_heads": 2, **options})
    assert str(caught.value).startswith(line)


def test_a_causal_table_spends_no_bucket_on_the_future() -> None:
    positions = RelativePositions(n_heads=1, bidirectional=False)
    assert positions.bucket(torch.tensor([5, 1, 0, -1, -15, -16, -128])).tolist() == [0, 0, 0, 1, 15, 16, 31]


def test_the_bias_is_the_row_of_its_bucket() -> None:
    positions = RelativePositions(n_heads=3, buckets=8, max_distance=20)
    bias = positions(4, 6, torch.zeros(1))
    assert bias.shape == (3, 4, 6)
    for t, s in product(range(4), range(6)):
        bucket = positions.bucket(torch.tensor([[s - (t + 2)]])).item()
        assert torch.equal(bias[:, t, s], positions.weight[bucket])


def test_one_number_for_each_bucket_and_head() -> None:
    positions = RelativePositions(n_heads=3, buckets=8)
    assert {name: tuple(p.shape) for name, p in positions.named_parameters()} == {"weight": (8, 3)}
    positions(4, 4, torch.zeros(1)).sum().backward()
    assert positions.weight.grad is not None
    assert positions.weight.grad[0].tolist() == [4.0, 4.0, 4.0]  # the diagonal
