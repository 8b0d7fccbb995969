"""Texts side by side: those of like length together, padded and masked, each with the place where it stood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from glassformer.data.batch import pad
from glassformer.errors import InputError
from glassformer.loading import Loaded

AT_ONCE = 64


@dataclass(frozen=True)
class Rows:
    """What one pass is given."""

    places: list[int]
    tokens: Tensor  # b t
    mask: Tensor | None  # b t; None where nothing is padded
    segments: Tensor | None = None  # b t; None where no text is a pair


def rows(
    loaded: Loaded,
    framed: Sequence[Sequence[int]],
    segments: Sequence[Sequence[int] | None] = (),
    at_once: int = AT_ONCE,
) -> Iterator[Rows]:
    """All texts, given as ids, on the model's device. A tokenizer without a pad token is fine: the mask hides it."""
    if not all(framed):
        raise InputError("empty_text")
    order = sorted(range(len(framed)), key=lambda i: len(framed[i]))
    padding = loaded.tokenizer.specials.ids().get("pad", 0)
    for first in range(0, len(order), at_once):
        places = order[first : first + at_once]
        tokens, real = pad([np.array(framed[i], dtype=np.int64) for i in places], padding)
        mask = None if real.all() else torch.from_numpy(real).to(loaded.device)
        yield Rows(places, tokens.to(loaded.device), mask, _segments(loaded, places, framed, segments))


def _segments(
    loaded: Loaded, places: Sequence[int], framed: Sequence[Sequence[int]], segments: Sequence[Sequence[int] | None]
) -> Tensor | None:
    """A text that is no pair is all of segment 0."""
    if not any(segments[i] for i in places if segments):
        return None
    some = [np.array(segments[i] or [0] * len(framed[i]), dtype=np.int32) for i in places]
    return pad(some, 0)[0].to(loaded.device)
