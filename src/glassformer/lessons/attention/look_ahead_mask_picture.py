"""The picture of look_ahead_mask: where a decoder looks, and what moves when one of its tokens is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glassformer.lessons.drawing import heat
from glassformer.lessons.lesson import Data
from glassformer.lessons.texts import Words
from glassformer.lessons.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, theme: Theme, words: Words) -> Figure:
    """Two triangles: row = who looks, column = at whom; row = what was changed, column = what moved."""
    figure = theme.figure(10, 5.2)
    tokens = [token.replace("▁", "") for token in data["tokens"]]
    left, right = figure.subplots(1, 2)
    seen = [[value if s <= t else None for s, value in enumerate(row)] for t, row in enumerate(data["weights"])]
    heat(left, theme, seen, rows=tokens, columns=tokens, most=1.0, bar=words("weight"))
    left.set_title(words("weights"))
    left.set_xlabel(words("keys"))
    left.set_ylabel(words("queries"))
    moved = [[None if value == 0.0 else value for value in row] for row in data["moved"]]
    heat(right, theme, moved, rows=tokens, columns=tokens, form=".3g", bar=words("change"))
    right.set_title(words("moved"))
    right.set_xlabel(words("outputs"))
    right.set_ylabel(words("changed"))
    return figure
