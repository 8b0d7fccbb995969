from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.data.sampler import EpochPosition, Indexes, Sampler, cut, of_batch, of_example
from glassformer.errors import ConfigError, InputError

LENGTHS = np.random.default_rng(0).integers(1, 20, (200, 2))


def sampler(**keys: int) -> Sampler:
    return Sampler(lengths=LENGTHS, batch_tokens=keys.pop("batch_tokens", 100), **keys)  # type: ignore[arg-type]


def padded(batch: Indexes, pad_to: int = 1) -> int:
    return len(batch) * -(-int(LENGTHS[batch].max()) // pad_to) * pad_to


def same(one: list[Indexes], other: list[Indexes]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@settings(max_examples=30, deadline=None)
@given(
    batch_tokens=st.integers(20, 400),
    pad_to=st.sampled_from([1, 4]),
    most=st.sampled_from([None, 3]),
    seed=st.integers(0, 9),
)
def test_every_example_once_and_no_batch_too_large(batch_tokens: int, pad_to: int, most: int | None, seed: int) -> None:
    one = Sampler(lengths=LENGTHS, batch_tokens=batch_tokens, pad_to=pad_to, max_sentences=most, seed=seed)
    for batches in (one.batches(0), one.batches(3), one.in_order()):
        assert sorted(np.concatenate(batches).tolist()) == list(range(200))
        assert all(padded(batch, pad_to) <= batch_tokens and len(batch) <= (most or 200) for batch in batches)


def test_batches_are_cut_where_the_next_would_not_fit() -> None:
    lengths = np.array([[1], [1], [2], [2], [5]])
    batches = cut(lengths, np.arange(5), batch_tokens=5, max_sentences=None, pad_to=1)
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3], [4]]


def spread(batches: list[Indexes]) -> float:
    """The mean difference between longest and shortest in a batch."""
    width = LENGTHS.max(axis=1)
    return float(np.mean([width[batch].max() - width[batch].min() for batch in batches]))


def waste(batches: list[Indexes]) -> float:
    return 1 - LENGTHS.max(axis=1).sum() / sum(padded(batch) for batch in batches)


def test_a_pool_mixes_lengths_and_pays_with_padding() -> None:
    sorted_all, pooled, shuffled = (sampler(pool=pool).batches(0) for pool in (0, 4, 1))
    assert waste(sorted_all) < 0.1
    assert spread(sorted_all) < spread(pooled) < spread(shuffled)
    assert waste(sorted_all) < waste(pooled) < waste(shuffled)
    for batches in (pooled, shuffled):
        assert sorted(np.concatenate(batches).tolist()) == list(range(200))
        assert all(padded(batch) <= 100 for batch in batches)


def test_the_order_depends_on_seed_and_epoch_and_on_nothing_else() -> None:
    assert same(sampler().batches(1), sampler().batches(1))
    assert not same(sampler().batches(1), sampler().batches(2))
    assert not same(sampler().batches(1), sampler(seed=1).batches(1))


def test_it_goes_on_in_the_middle_of_an_epoch() -> None:
    """Two numbers are enough: a fresh sampler continues as if it had been there all along, across epochs."""
    place, seen = EpochPosition(), []
    places = []
    for _ in range(60):
        places.append(place)
        group, place = sampler(accumulate=3).group(place)
        seen += [batch for _, batch in group]
    assert place.epoch > 2
    for i in (0, 7, 33, 59):
        group, _ = sampler(accumulate=3).group(places[i])
        assert same([batch for _, batch in group], seen[3 * i : 3 * i + 3])


def test_no_batch_is_lost_at_the_end_of_an_epoch() -> None:
    one = sampler(accumulate=3)
    expected = [batch for epoch in range(3) for batch in one.batches(epoch)]
    place, seen = EpochPosition(), []
    while place.epoch < 3:
        group, place = one.group(place)
        assert len(group) == 3
        assert all(batch is one.batches(at.epoch)[at.position] for at, batch in group)
        seen += [batch for _, batch in group]
    assert same(seen[: len(expected)], expected)


def test_a_group_may_be_larger_than_an_epoch() -> None:
    one = Sampler(lengths=np.array([[3], [4]]), batch_tokens=10, accumulate=5)
    group, place = one.group(EpochPosition())
    assert len(group) == 5 and place == EpochPosition(5, 0)


@pytest.mark.parametrize(("accumulate", "world"), [(4, 1), (2, 2), (1, 4)])
def test_ranks_and_accumulation_see_the_same_examples_in_every_step(accumulate: int, world: int) -> None:
    place, places = EpochPosition(), [EpochPosition()] * world
    for _ in range(15):
        expected, place = sampler(accumulate=4).group(place)
        found: list[tuple[int, ...]] = []
        for rank in range(world):
            one = sampler(accumulate=accumulate, rank=rank, world=world)
            group, places[rank] = one.group(places[rank])
            assert len(group) == accumulate
            found += [(*at, *batch.tolist()) for at, batch in group]
        assert sorted(found) == sorted((*at, *batch.tolist()) for at, batch in expected)
        assert set(places) == {place}


def test_evaluation_is_shared_by_the_ranks() -> None:
    shares = [sampler(rank=rank, world=3).in_order() for rank in range(3)]
    assert sorted(np.concatenate([batch for share in shares for batch in share]).tolist()) == list(range(200))


def test_an_example_that_fits_into_no_batch_is_refused() -> None:
    with pytest.raises(ConfigError, match="batch_tokens=18 is less than the longest example, 19 tokens; raise it"):
        sampler(batch_tokens=18)
    with pytest.raises(ConfigError, match="the longest example, 24 tokens"):
        sampler(batch_tokens=20, pad_to=8)


def test_no_examples_at_all() -> None:
    with pytest.raises(InputError, match="there are no examples to train on; check the data, and max_length"):
        Sampler(lengths=np.zeros((0, 2), np.int64), batch_tokens=10)


def test_a_batch_draws_the_same_wherever_it_is_made_and_another_elsewhere() -> None:
    def drawn(seed: int, *place: int) -> float:
        return float(of_batch(seed, EpochPosition(*place)).random())

    assert drawn(1, 2, 3) == drawn(1, 2, 3)
    others = [drawn(1, 2, 3), drawn(0, 2, 3), drawn(1, 1, 3), drawn(1, 2, 4), drawn(1, 3, 2), drawn(1, 2, 0)]
    assert len(set(others)) == len(others)


def test_it_is_not_what_the_order_is_drawn_from() -> None:
    assert of_batch(1, EpochPosition(2, 0)).random() != np.random.default_rng([1, 2]).random()


def test_an_example_draws_the_same_whatever_stands_beside_it() -> None:
    first, second = np.array([1, 2, 3]), np.array([1, 2, 4])
    assert of_example((first,)).random() == of_example((first.copy(),)).random()
    assert of_example((first,)).random() != of_example((second,)).random()
    assert of_example((first, second)).random() != of_example((second, first)).random()
