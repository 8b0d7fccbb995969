"""What is between two steps of decoding: the cache, the memory, the masks, and the branches of a search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glassformer.layers.attention import Cache
from glassformer.layers.attention.mask import Branches


class Places(Protocol):
    """A state's content at fixed places in memory: see captured.py."""

    def keep(self, rows: Tensor) -> None: ...

    def branch(self, parents: Tensor) -> bool: ...

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
    branches: Branches | None = None  # what the next tokens see, where there are several for a text
    places: Places | None = None  # where all of this is, once it has moved there

    def repeated(self, rows: Tensor) -> State:
        """A separate state with these rows; a row that is named twice appears twice."""
        return State(
            self.cache.select(rows), _rows(self.mask, rows), _rows(self.memory, rows), _rows(self.memory_mask, rows)
        )

    def keep(self, rows: Tensor) -> None:
        """Go on with these texts: finished ones leave the batch, so that no work is spent on them."""
        if self.places is not None:
            self.places.keep(rows)
            return
        self.cache.keep(rows)
        self.mask = _rows(self.mask, rows)
        self.memory, self.memory_mask = _rows(self.memory, rows), _rows(self.memory_mask, rows)
        if self.branches is not None:
            self.branches = replace(self.branches, seen=self.branches.seen[rows], at=self.branches.at[rows])

    def branch(self, parents: Int[Tensor, "b w"]) -> None:
        """Go on with w tokens for each text; `parents` names the branches that they continue.

        Nothing in the cache moves: a branch is who sees what.
        """
        if self.places is not None and self.places.branch(parents):
            return
        self.leave_places()
        old = self.branches or first_branch(self.cache.length, self.mask, parents)
        w = parents.shape[1]
        past = old.seen.gather(1, parents[:, :, None].expand(-1, -1, old.seen.shape[2]))  # b w s
        itself = torch.eye(w, dtype=torch.bool, device=parents.device).expand(len(parents), -1, -1)  # b w w
        assert old.distance is not None
        distance = torch.cat([old.distance[0] - 1, old.distance.new_zeros(w)])  # s+w
        self.branches = Branches(torch.cat([past, itself], 2), old.at[:, :1].expand(-1, w) + 1, distance.expand(w, -1))
        self.mask = None  # the branches know it

    def leave_places(self) -> None:
        """Hold all of it in tensors of its own again."""
        if self.places is not None:
            vars(self).update(vars(self.places.plain()))


def first_branch(s: int, mask: Bool[Tensor, "b s"] | None, like: Int[Tensor, "b ..."]) -> Branches:
    """The text so far as its only branch: the last of its tokens sees them all."""
    seen = torch.ones(len(like), s, dtype=torch.bool, device=like.device) if mask is None else mask  # b s
    return Branches(seen[:, None], seen.sum(1)[:, None] - 1, torch.arange(1 - s, 1, device=like.device)[None])


def _rows(x: Tensor | None, rows: Tensor) -> Tensor | None:
    return None if x is None else x.index_select(0, rows)
