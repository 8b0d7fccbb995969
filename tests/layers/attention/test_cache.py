from __future__ import annotations

from itertools import product

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


def numbered(rows: int, t: int, first: float = 0.0) -> torch.Tensor:
    return torch.arange(first, first + rows * t).reshape(rows, 1, t, 1)


def test_space_reserved_ahead_gives_the_same_as_new_tensors() -> None:
    parts = [torch.randn(3, 2, t, 4) for t in (5, 1, 1, 30, 1, 70, 1)]
    known, expected = KeyValues(), KeyValues()
    for part in parts:
        with torch.inference_mode():
            k, v = known.append(part, part[..., :3])
        assert torch.equal(k, expected.append(part, part[..., :3])[0])
        assert torch.equal(v, k[..., :3])


@torch.inference_mode()
def test_in_reserved_space_the_old_ones_stay_where_they_are() -> None:
    known = KeyValues()
    first = known.append(numbered(2, 3), numbered(2, 3))[0]
    place = known.append(numbered(2, 1, 9.0), numbered(2, 1, 9.0))[0]
    assert place.data_ptr() == first.data_ptr()
    assert torch.equal(first, numbered(2, 3))


@torch.inference_mode()
def test_space_is_reserved_for_steps_of_several_positions() -> None:
    known = KeyValues()
    places = [known.append(numbered(2, 1), numbered(2, 1))[0].data_ptr()]
    places += [known.append(numbered(2, 4), numbered(2, 4))[0].data_ptr() for _ in range(31)]
    assert known.length == 125 and len(set(places)) == 2  # moved once


@torch.inference_mode()
def test_a_memory_lies_one_head_after_another() -> None:
    k = torch.randn(2, 5, 3, 4).transpose(1, 2)
    memory = KeyValues(fixed=True)
    assert all(x.is_contiguous() and torch.equal(x, k) for x in memory.append(k, k))


def test_with_gradients_nothing_is_written_in_place() -> None:
    known = KeyValues()
    a, b = (torch.ones(1, 1, 1, 2, requires_grad=True) for _ in range(2))
    first = known.append(a, a)[0]
    second = known.append(b, b)[0]
    (first.square().sum() + second.square().sum()).backward()
    assert a.grad is not None and a.grad.tolist() == [[[[4.0, 4.0]]]]


@torch.inference_mode()
def test_a_copy_and_its_original_go_their_own_ways_in_reserved_space() -> None:
    cache = Cache.empty(1)
    past = cache.layers[0].past
    past.append(numbered(2, 3), numbered(2, 3))
    copy = cache.copy()
    past.append(numbered(2, 1, 50.0), numbered(2, 1, 50.0))
    copy.layers[0].past.append(numbered(2, 1, 70.0), numbered(2, 1, 70.0))
    for _ in range(3):
        cache.keep(torch.tensor([1, 0]))
    assert past.whole()[0].flatten().tolist() == [3.0, 4.0, 5.0, 51.0, 0.0, 1.0, 2.0, 50.0]
    assert copy.layers[0].past.whole()[0].flatten().tolist() == [0.0, 1.0, 2.0, 70.0, 3.0, 4.0, 5.0, 71.0]


@torch.inference_mode()
def test_keep_is_select_in_place_for_fewer_and_for_more_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    known = KeyValues()
    known.append(torch.randn(4, 2, 3, 5), torch.randn(4, 2, 3, 6))
    rows = 4
    for more in (4, 8, 8, 2, 6, 1):
        chosen = torch.randint(rows, (more,), generator=generator)
        new = torch.randn(more, 2, 1, 5), torch.randn(more, 2, 1, 6)
        expected = known.select(chosen).append(*new)
        known.keep(chosen)
        for found, other in zip(known.append(*new), expected, strict=True):
            assert torch.equal(found, other)
        rows = more


@torch.inference_mode()
def test_keep_before_the_first_call_changes_nothing() -> None:
    cache = Cache.empty(1)
    cache.keep(torch.tensor([0, 0]))
    assert cache.length == 0


@torch.inference_mode()
def test_most_steps_copy_nothing() -> None:
    known, new = KeyValues(), numbered(1, 4)
    moved = 0
    for _ in range(200):
        before = None if known.k is None else known.k.data_ptr()
        known.append(new, new)
        moved += known.whole()[0].data_ptr() != before
    assert moved < 12


def test_modes_may_change_in_the_middle() -> None:
    modes = (torch.inference_mode, torch.no_grad, torch.enable_grad)
    for order in product(modes, repeat=4):
        known, expected = KeyValues(), numbered(2, 0)
        for number, mode in enumerate(order):
            with mode():
                new = numbered(2, 1, 10.0 * number)
                known.append(new, new)
                known.keep(torch.tensor([1, 0]))
            expected = torch.cat([expected, new.clone()], 2).flip(0)
        assert torch.equal(known.whole()[0], expected)
