"""Batches side by side find what they find one after another, in the same order, and leave torch as it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from glassformer.decoding.side_by_side import side_by_side
from glassformer.kernels.linear import _packed, packed_weights
from glassformer.tap import observe

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_in_their_order_each_on_a_core_of_its_own() -> None:
    together = threading.Barrier(2, timeout=20)

    def search(batch: int) -> tuple[int, int, str]:
        together.wait()  # nobody goes on before two are there
        return batch, torch.get_num_threads(), threading.current_thread().name

    found = side_by_side(search, range(4), CPU)
    assert [batch for batch, _, _ in found] == [0, 1, 2, 3]
    assert {threads for _, threads, _ in found} == {1} and len({name for _, _, name in found}) == 2
    assert torch.get_num_threads() == 2


def test_an_error_reaches_the_caller_and_torch_is_as_before() -> None:
    def search(batch: int) -> int:
        if batch == 1:
            raise ValueError("one of them")
        return batch

    with pytest.raises(ValueError, match="one of them"):
        side_by_side(search, range(6), CPU)
    assert torch.get_num_threads() == 2


def test_they_share_the_weights_in_the_kernels_order() -> None:
    with packed_weights():
        outside = _packed.get()
        assert all(seen is outside for seen in side_by_side(lambda _: _packed.get(), range(3), CPU))


@pytest.mark.parametrize("batches", [1, 3])
def test_one_batch_or_an_observer_stays_in_this_thread(batches: int) -> None:
    class Observer:
        selection = None

    before = observe(Observer() if batches > 1 else None)  # type: ignore[arg-type]
    try:
        names = side_by_side(lambda _: threading.current_thread().name, range(batches), CPU)
    finally:
        observe(before)
    assert set(names) == {threading.current_thread().name}


def test_autocast_reaches_every_batch() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        assert side_by_side(lambda _: torch.is_autocast_enabled("cpu"), range(3), CPU) == [True] * 3
