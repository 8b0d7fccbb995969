"""How a text is framed: which special tokens stand before it and behind it, and how long it may be.

One object for training, use, samples, evaluation and export: what a model learned from is what it is asked with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from glassformer.config.recipe import RunConfig
from glassformer.config.values import truth
from glassformer.text.special import Specials


def roles(config: RunConfig) -> tuple[str, str]:
    """The roles of the two special tokens, as [text] says them; "none" where there is none.

    A translator closes its source with eos where [text] names no other end, as the paper's code does: a place to look
    at when there is no other. `task.source_end = false` leaves it away.
    """
    begin, end = config.text.begin, config.text.end
    if end == "none" and config.task.kind == "translation":
        end = "eos" if truth("task.source_end", config.task.options.get("source_end", True)) else "none"
    return begin, end


@dataclass(frozen=True)
class Frame:
    """The ids around a text, None where there is none: begin x_1 … x_t end."""

    begin: int | None = None
    end: int | None = None

    @classmethod
    def of(cls, config: RunConfig, specials: Specials) -> Self:
        """The frame of what a model reads; of a translator that of its source."""
        return cls.named(*roles(config), specials)

    @classmethod
    def named(cls, begin: str, end: str, specials: Specials) -> Self:
        return cls(*(None if role == "none" else specials.need(role) for role in (begin, end)))

    @property
    def extra(self) -> int:
        """How many tokens it adds."""
        return (self.begin is not None) + (self.end is not None)

    @property
    def front(self) -> list[int]:
        return [] if self.begin is None else [self.begin]

    @property
    def back(self) -> list[int]:
        return [] if self.end is None else [self.end]

    def around(self, ids: Sequence[int]) -> list[int]:
        return [*self.front, *ids, *self.back]

    def room(self, config: RunConfig) -> int:
        """How many tokens of a text are read in training: as the recipe says, or what the table of positions holds."""
        return min(config.data.max_length, config.model.max_len - self.extra)
