from __future__ import annotations

from matplotlib.figure import Figure

from glassformer.lessons.finish import begins_high, finish
from glassformer.lessons.theme import LIGHT
from legible import laid_out, texts, unmarked_cuts


def curve(*values: float) -> Figure:
    figure = LIGHT.figure(4, 3)
    figure.subplots().plot(range(len(values)), values)
    return figure


def test_an_axis_that_begins_far_from_0_says_so() -> None:
    figure = curve(2.4, 2.5)
    assert unmarked_cuts(laid_out(figure)) != []
    assert unmarked_cuts(laid_out(finish(figure))) == []


def test_one_that_begins_at_0_says_nothing() -> None:
    figure = curve(0.0, 2.5)
    before = len(figure.axes[0].lines)
    assert not begins_high(figure.axes[0]) and len(finish(figure).axes[0].lines) == before


def test_a_minus_and_thousands() -> None:
    figure = curve(0.0, 25_000.0)
    figure.axes[0].set_title("-3 and 1e-05")
    said = [text.get_text() for text in texts(laid_out(finish(figure)))]
    assert "−3 and 1×10⁻⁵" in said and "10,000" in said
