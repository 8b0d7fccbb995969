"""What is between two steps of decoding: the cache, the memory and the masks, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from glassformer.layers.attention import Cache


class Places(Protocol):
    """A state's content at fixed places in memory: see captured.py."""

    def fits(self, rows: int, beams: int) -> bool: ...

    def reorder(self, rows: Tensor, sentences: Tensor | None) -> None: ...

    def plain(self) -> State: ...


@dataclass
class State:
    """The cache of the decoder, and the memory it looks at or the padding of its prompt.

    `mask` is None where every position of the cache is a real token, `memory_mask` where all of the source is.
    """

    cache: Cache
    mask: Tensor | None = None  # b s: positions of the cache
    memory: Tensor | None = None  # b s d_model
    memory_mask: Tensor | None = None  # b s
    places: Places | None = None  # where all of this is, once it has moved there

    def repeated(self, rows: Tensor) -> State:
        """A separate state with these rows; a row that is named twice appears twice."""
        return State(
            self.cache.select(rows), _rows(self.mask, rows), _rows(self.memory, rows), _rows(self.memory_mask, rows)
        )

    def reorder(self, rows: Tensor, sentences: Tensor | None = None, beams: int = 1) -> None:
        """Go on with these rows, `beams` for each of the `sentences` (None: all of them).

        This is how finished sentences leave the batch, so that no work is spent on them.
        """
        if self.places is not None and self.places.fits(rows.shape[0], beams):
            self.places.reorder(rows, sentences)
            return
        self.leave_places()
        self.cache.reorder(rows, sentences, beams)
        self.mask = _rows(self.mask, rows)
        self.memory, self.memory_mask = _rows(self.memory, sentences), _rows(self.memory_mask, sentences)

    def leave_places(self) -> None:
        """Hold all of it in tensors of its own again."""
        if self.places is not None:
            vars(self).update(vars(self.places.plain()))


def _rows(x: Tensor | None, rows: Tensor | None) -> Tensor | None:
    return x if x is None or rows is None else x.index_select(0, rows)
