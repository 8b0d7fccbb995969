from __future__ import annotations

import torch

from glassformer.layers.attention.cache import Cache, KeyValues, LayerCache


def test_an_empty_cache_has_no_positions() -> None:
    cache = Cache.empty(3)
    assert len(cache.layers) == 3
    assert cache.length == 0
    assert Cache.empty(0).length == 0


def test_layers_of_an_empty_cache_are_separate() -> None:
    cache = Cache.empty(2)
    cache.layers[0].past.append(torch.ones(1, 1, 2, 4), torch.ones(1, 1, 2, 4))
    assert cache.layers[1].past.k is None


def test_append_puts_the_new_behind_the_old() -> None:
    known = KeyValues()
    first, second = torch.randn(2, 1, 2, 4), torch.randn(2, 1, 3, 4)
    k, v = known.append(first, 2 * first)
    assert torch.equal(k, first) and torch.equal(v, 2 * first)
    k, v = known.append(second, 2 * second)
    assert torch.equal(k, torch.cat([first, second], 2))
    assert torch.equal(v, 2 * k)
    whole = known.whole()
    assert torch.equal(whole[0], k) and torch.equal(whole[1], v)


def test_keys_and_values_may_have_different_sizes() -> None:
    known = KeyValues()
    known.append(torch.zeros(1, 2, 1, 4), torch.zeros(1, 2, 1, 7))
    k, v = known.append(torch.zeros(1, 2, 1, 4), torch.zeros(1, 2, 1, 7))
    assert k.shape == (1, 2, 2, 4)
    assert v.shape == (1, 2, 2, 7)


def test_length_counts_the_positions_of_the_past() -> None:
    cache = Cache.empty(2)
    for layer in cache.layers:
        layer.past.append(torch.zeros(1, 1, 5, 4), torch.zeros(1, 1, 5, 4))
        layer.memory.append(torch.zeros(1, 1, 9, 4), torch.zeros(1, 1, 9, 4))
    assert cache.length == 5


def test_only_a_filled_memory_is_complete() -> None:
    layer = LayerCache()
    assert not layer.memory.complete
    for known in (layer.past, layer.memory):
        known.append(torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 2, 4))
    assert layer.memory.complete
    assert not layer.past.complete


def filled() -> Cache:
    cache = Cache.empty(2)
    for number, layer in enumerate(cache.layers):
        for known in (layer.past, layer.memory):
            k = torch.arange(3.0).reshape(3, 1, 1, 1) + 10 * number
            known.append(k, -k)
    return cache


def test_growing_a_copy_leaves_the_original_as_it_was() -> None:
    cache = filled()
    copy = cache.copy()
    before = cache.layers[0].past.whole()[0].clone()
    copy.layers[0].past.append(torch.ones(3, 1, 1, 1), torch.ones(3, 1, 1, 1))
    assert copy.length == 2
    assert cache.length == 1
    assert torch.equal(cache.layers[0].past.whole()[0], before)
    assert copy.layers[0].memory.fixed


def test_select_takes_rows_of_the_batch_in_any_order_and_number() -> None:
    cache = filled()
    chosen = cache.select(torch.tensor([2, 0, 0, 1]))
    for number, layer in enumerate(chosen.layers):
        for known in (layer.past, layer.memory):
            k, v = known.whole()
            assert k.flatten().tolist() == [10 * number + row for row in (2.0, 0.0, 0.0, 1.0)]
            assert torch.equal(v, -k)
        assert layer.memory.complete and not layer.past.fixed
    assert cache.layers[0].past.whole()[0].shape[0] == 3


def test_select_of_an_empty_cache_is_empty_and_keeps_what_is_fixed() -> None:
    chosen = Cache.empty(1).select(torch.tensor([0, 0]))
    assert chosen.length == 0
    assert chosen.layers[0].memory.fixed
    assert not chosen.layers[0].memory.complete
