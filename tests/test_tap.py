from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.feed_forward import FeedForward
from glassformer.tap import Observer, is_watched, observe, tap


class Notebook:
    """Writes down what it sees, wants `wanted` only, and gives back what `change` makes of it."""

    def __init__(self, wanted: str = "", change: float | None = None) -> None:
        self.seen: list[str] = []
        self.wanted, self.change = wanted, change

    def see(self, name: str, x: Tensor) -> Tensor:
        self.seen.append(name)
        return x if self.change is None or name != self.wanted else x * self.change

    def wants(self, name: str) -> bool:
        return name == self.wanted

    def edits(self, name: str) -> bool:
        return False

    @property
    def selection(self) -> None:
        return None


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    before = observe(observer)
    try:
        yield
    finally:
        observe(before)


def test_without_an_observer_a_tap_is_the_identity() -> None:
    x = torch.randn(3)
    assert tap("anything", x) is x
    assert not is_watched("anything")


def test_an_observer_sees_the_name_and_the_tensor() -> None:
    notebook, x = Notebook(), torch.randn(3)
    with observed_by(notebook):
        assert tap("scores", x) is x
        tap("weights", x)
    tap("afterwards", x)
    assert notebook.seen == ["scores", "weights"]


def test_watched_asks_the_observer() -> None:
    with observed_by(Notebook(wanted="scores")):
        assert is_watched("scores")
        assert not is_watched("weights")
    assert not is_watched("scores")


def test_observe_returns_the_one_before() -> None:
    first, second = Notebook(), Notebook()
    assert observe(first) is None
    assert observe(second) is first
    assert observe(None) is second
    assert observe(None) is None


def test_another_thread_is_not_observed() -> None:
    notebook, elsewhere = Notebook(wanted="scores"), []

    def work() -> None:
        x = torch.zeros(1)
        elsewhere.append((tap("scores", x) is x, is_watched("scores"), observe(None)))

    with observed_by(notebook):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert is_watched("scores")
    assert elsewhere == [(True, False, None)]
    assert notebook.seen == []


def test_what_the_observer_returns_is_what_the_model_goes_on_with() -> None:
    network, x = FeedForward(d_model=4, d_ff=8, bias=False), torch.randn(1, 2, 4)
    expected = network(x)
    with observed_by(Notebook(wanted="hidden", change=3.0)):
        changed = network(x)
    torch.testing.assert_close(changed, 3 * expected)


def test_weights_of_the_reference_kernel_can_be_changed() -> None:
    attention = MultiHeadAttention(d_model=8, n_heads=2, bias=(), kernel="reference")
    x = torch.randn(1, 3, 8)
    expected = attention(x, x, x)
    with observed_by(Notebook(wanted="weights", change=0.5)):
        torch.testing.assert_close(attention(x, x, x), expected / 2)


def test_a_fused_kernel_shows_its_weights_only_to_those_who_want_them() -> None:
    attention, x = MultiHeadAttention(d_model=8, n_heads=2, kernel="fused"), torch.randn(1, 3, 8)
    indifferent, curious = Notebook(wanted="heads"), Notebook(wanted="weights")
    with observed_by(indifferent):
        attention(x, x, x)
    with observed_by(curious):
        attention(x, x, x)
    assert indifferent.seen == ["q", "k", "v", "heads", "output"]
    assert curious.seen == ["q", "k", "v", "scores", "weights", "heads", "output"]
