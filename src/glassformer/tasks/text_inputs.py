"""The inputs of the everyday verbs: a text, a pair or a list of them, as batches of ids that fit into the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from glassformer.data.batch import pad
from glassformer.errors import InputError, shown
from glassformer.layers.position import WITH_TABLE
from glassformer.loading import Loaded
from glassformer.tasks.task import AT_ONCE
from glassformer.text.frame import paired

Text = str | tuple[str, str]


@dataclass(frozen=True)
class Ids:
    """A text, or two, as the model reads it. `segments`: which of the two a token belongs to, or None."""

    tokens: list[int]
    segments: list[int] | None = None


def every_text(texts: Any) -> list[str]:
    """One text or several → a list of texts; raises for anything else."""
    given = [texts] if isinstance(texts, str) else _several(texts)
    for text in given:
        if not isinstance(text, str):
            raise InputError("not_a_text", value=shown(text))
    return given


def every_text_or_pair(texts: Any) -> list[Text]:
    """The same, where two texts may belong together: ("a", "b") is one pair, ["a", "b"] are two texts."""
    if isinstance(texts, tuple) and len(texts) == 2 and all(isinstance(one, str) for one in texts):
        return [(texts[0], texts[1])]
    given = [texts] if isinstance(texts, str) else _several(texts)
    for text in given:
        pair = isinstance(text, tuple) and len(text) == 2 and all(isinstance(one, str) for one in text)
        if not (isinstance(text, str) or pair):
            raise InputError("not_a_text_or_pair", value=shown(text))
    return given


def _several(texts: Any) -> list[Any]:
    if isinstance(texts, bytes | dict) or not isinstance(texts, Sequence):
        raise InputError("not_texts", value=shown(texts))
    return list(texts)


def position_limit(loaded: Loaded) -> int | None:
    """The number of positions of the model; None if it is unlimited."""
    model = loaded.config.model
    return model.max_len if model.position.kind in WITH_TABLE else None


def text_ids(loaded: Loaded, text: str, *, truncate: bool = False, longest: int | None = None) -> Ids:
    """The ids of a text in its frame. Raises if it is too long, or with `truncate` cuts off its end."""
    limits = [limit for limit in (position_limit(loaded), longest) if limit is not None]
    frame = loaded.frame
    return Ids(frame.around(frame.fit(loaded.encode(text), min(limits, default=None), truncate=truncate)))


def pair_ids(loaded: Loaded, first: str, second: str, *, truncate: bool = False) -> Ids:
    """The ids of two texts in one frame; with `truncate` the longer one is cut first, until both fit."""
    begin, end = loaded.frame.front, loaded.frame.back
    a, b = map(loaded.encode, (first, second))
    tokens, segments = paired(loaded.tokenizer, a, b, begin, end)
    most = position_limit(loaded)
    if most is not None and len(tokens) > most:
        if not truncate:
            raise InputError("text_too_long", length=len(tokens), most=most)
        first_most, second_most = split_room(len(a), len(b), max(most - (len(tokens) - len(a) - len(b)), 0))
        tokens, segments = paired(loaded.tokenizer, a[:first_most], b[:second_most], begin, end)
    return Ids(tokens, segments if loaded.config.model.segments > 1 and any(segments) else None)


def split_room(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens of two texts are kept: the longer one is cut first, down to the shorter, then both equally.

    An odd token goes to the longer one, or to the second, as in `tokenizers`.
    """
    short, long = min(first, second), max(first, second)
    long = short if short > room else min(long, max(short, room - short))
    if short + long > room:
        short, long = room // 2, room // 2 + room % 2
    return (long, short) if first > second else (short, long)


def input_ids(loaded: Loaded, text: Text, *, truncate: bool = False) -> Ids:
    if isinstance(text, str):
        return text_ids(loaded, text, truncate=truncate)
    return pair_ids(loaded, *text, truncate=truncate)


# --- side by side ---


@dataclass(frozen=True)
class Rows:
    """The input of one pass."""

    places: list[int]
    tokens: Tensor  # b t
    mask: Tensor | None  # b t; None without padding
    segments: Tensor | None = None  # b t; None without pairs


def input_batches(
    loaded: Loaded,
    framed: Sequence[Sequence[int]],
    segments: Sequence[Sequence[int] | None] = (),
    at_once: int = AT_ONCE,
) -> Iterator[Rows]:
    """All texts, given as ids, in batches on the model's device. No pad token is needed, since padding is masked."""
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
    """The segments of a batch; a text that is not a pair is all segment 0."""
    if not any(segments[i] for i in places if segments):
        return None
    some = [np.array(segments[i] or [0] * len(framed[i]), dtype=np.int32) for i in places]
    return pad(some, 0)[0].to(loaded.device)
