"""Where decoding stands after some tokens: the cache and what the next step needs besides it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from glassformer.layers.attention import Cache


@dataclass
class State:
    """The cache of the decoder, and the memory it looks at or the padding of its prompt.

    `mask` is None where every position of the cache is a real token, `memory_mask` where all of the source is.
    """

    cache: Cache
    mask: Tensor | None = None  # b s: positions of the cache
    memory: Tensor | None = None  # b s d_model
    memory_mask: Tensor | None = None  # b s

    def repeated(self, rows: Tensor) -> State:
        """A state of its own with these rows, as often as they are named."""
        return State(
            self.cache.select(rows), _rows(self.mask, rows), _rows(self.memory, rows), _rows(self.memory_mask, rows)
        )

    def reorder(self, rows: Tensor, sentences: Tensor | None = None, beams: int = 1) -> None:
        """Go on with these rows, `beams` for each of the `sentences` (None: all of them).

        Sentences that are finished leave in this way, and no work is spent on them.
        """
        self.cache.reorder(rows, sentences, beams)
        self.mask = _rows(self.mask, rows)
        self.memory, self.memory_mask = _rows(self.memory, sentences), _rows(self.memory_mask, sentences)


def _rows(x: Tensor | None, rows: Tensor | None) -> Tensor | None:
    return x if x is None or rows is None else x.index_select(0, rows)
