"""The state of decoding between two steps: the cache and whatever else the next step needs."""

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
        """A separate state with these rows; a row that is named twice appears twice."""
        return State(
            self.cache.select(rows), _rows(self.mask, rows), _rows(self.memory, rows), _rows(self.memory_mask, rows)
        )

    def reorder(self, rows: Tensor, sentences: Tensor | None = None, beams: int = 1) -> None:
        """Go on with these rows, `beams` for each of the `sentences` (None: all of them).

        This is how finished sentences leave the batch, so that no work is spent on them.
        """
        self.cache.reorder(rows, sentences, beams)
        self.mask = _rows(self.mask, rows)
        self.memory, self.memory_mask = _rows(self.memory, sentences), _rows(self.memory_mask, sentences)


def _rows(x: Tensor | None, rows: Tensor | None) -> Tensor | None:
    return x if x is None or rows is None else x.index_select(0, rows)
