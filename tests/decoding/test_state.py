from __future__ import annotations

import torch

from glassformer.decoding.state import State
from glassformer.layers.attention import Cache


def state() -> State:
    cache = Cache.empty(1)
    rows = torch.arange(3.0).reshape(3, 1, 1, 1)
    with torch.inference_mode():
        cache.layers[0].past.append(rows, rows)
        cache.layers[0].memory.append(rows, rows)
    memory = rows.reshape(3, 1, 1)
    return State(cache, memory[:, 0] > 0, memory, memory[:, 0] > 1)


def numbers(of: State) -> list[list[float]]:
    layer = of.cache.layers[0]
    assert of.memory is not None and of.mask is not None and of.memory_mask is not None
    tensors = (layer.past.whole()[0], layer.memory.whole()[1], of.memory, of.mask, of.memory_mask)
    return [x.flatten().tolist() for x in tensors]


@torch.inference_mode()
def test_rows_repeated_leave_the_original_as_it_was() -> None:
    old = state()
    before = numbers(old)
    rows = [0.0, 0.0, 2.0]
    assert numbers(old.repeated(torch.tensor([0, 0, 2]))) == [
        rows, rows, rows, [False, False, True], [False, False, True],
    ]  # fmt: skip
    assert numbers(old) == before


@torch.inference_mode()
def test_beams_branch_and_sentences_leave() -> None:
    now = state()
    now.reorder(torch.tensor([0, 0, 1, 1, 2, 2]), None, 2)
    past, memory, stream, mask, memory_mask = numbers(now)
    assert past == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    assert mask == [False, False, True, True, True, True]
    assert memory == stream == [0.0, 1.0, 2.0]  # one row for both beams
    assert memory_mask == [False, False, True]
    assert now.cache.beams == 2
    now.reorder(torch.tensor([1, 0, 5, 5]), torch.tensor([0, 2]), 2)
    past, memory, stream, mask, memory_mask = numbers(now)
    assert past == [0.0, 0.0, 2.0, 2.0]
    assert memory == stream == [0.0, 2.0]
    assert memory_mask == [False, True]
