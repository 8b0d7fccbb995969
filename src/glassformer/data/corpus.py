"""The splits of a run: for training, for validation during training, and for the final test.

Every kind of example has its sources (`pair_corpus`, `labelled_corpus`, `document_corpus`, `picture_corpus`); what they
share is here: a split from its own place or held out of the training part, the kinds of the built-in grammar, and the
options of a source, `source = { kind = "files", train = "a.tsv" }`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha1
from types import MappingProxyType
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from glassformer.config.options import Schema, keywords
from glassformer.config.recipe import DataConfig
from glassformer.config.values import ValueRule, wrong_type
from glassformer.data import grammar
from glassformer.errors import choose

SPLITS = ("train", "validation", "test")
T = TypeVar("T")
Where = TypeVar("Where")  # where a part is read from: a path, two of them, a name


class Part(Protocol):
    """A set of examples from which some can be chosen: Pairs, Texts, Documents, Pictures."""

    def __len__(self) -> int: ...

    def chosen(self, indexes: Iterable[int], /) -> Self: ...


P = TypeVar("P", bound=Part)


class Corpus(Generic[P]):
    """The three splits, in groups by name; of the training examples only as many as `data.limit` says.

    A split is read when it is first used: evaluating on the test set does not wait for the training set.
    """

    def __init__(
        self,
        config: DataConfig,
        make: Callable[[str], Mapping[str, P]],
        change: Callable[[P], P] = lambda part: part,
    ) -> None:
        self._config, self._make, self._change = config, make, change
        self._made: dict[str, dict[str, P]] = {}

    def split(self, name: str) -> dict[str, P]:
        """A split, in groups that are reported separately."""
        choose("split", name, dict.fromkeys(SPLITS))
        if name not in self._made:
            parts = self._make(name)
            if name == "train":
                parts = {group: _limited(self._config, part) for group, part in parts.items()}
            self._made[name] = {group: self._change(part) for group, part in parts.items()}
        return self._made[name]

    @property
    def train(self) -> P:
        return self.split("train")["train"]

    @property
    def validation(self) -> P:
        return self.split("validation")["validation"]

    @property
    def test(self) -> dict[str, P]:
        return self.split("test")


def _limited(config: DataConfig, part: P) -> P:
    """At most `data.limit` examples, drawn by the seed of the data, in their order: a file may be sorted by class."""
    if not 0 < config.limit < len(part):
        return part
    drawn = np.random.default_rng(config.seed).choice(len(part), config.limit, replace=False)
    return part.chosen(np.sort(drawn))


def from_parts(
    read: Callable[[Where], T],
    hold_out: Callable[[T], tuple[T, T]],
    *,
    train: Where,
    validation: Where | None,
    test: Mapping[str, Where],
) -> Callable[[str], Mapping[str, T]]:
    """Each split from its own place; without one for validation, part of the training set is held out."""

    @cache
    def held_out() -> dict[str, T]:
        learned, kept = hold_out(read(train))
        return {"train": learned, "validation": kept}

    def groups(split: str) -> Mapping[str, T]:
        if split == "test":
            return {name: read(place) for name, place in test.items()}
        if validation is not None:
            return {split: read(train if split == "train" else validation)}
        return {split: held_out()[split]}

    return groups


def from_kinds(
    draw: Callable[[str, int, Sequence[str] | None], T], *, count: int, validation: int, test: int
) -> Callable[[str], Mapping[str, T]]:
    """Sentences of the built-in grammar; the test set has a group for each kind that is held out, `test` of each."""

    def groups(split: str) -> Mapping[str, T]:
        if split == "test":
            return {kind: draw("test", test, [kind]) for kind in grammar.KINDS} if test else {}
        return {split: draw(split, count if split == "train" else validation, None)}

    return groups


def content_mark(seed: int, content: bytes) -> bytes:
    """A hash of an example's content and the seed, to draw examples independently of their order in a file."""
    return sha1(f"{seed}:".encode() + content, usedforsecurity=False).digest()


def held_out(part: P, marks: Sequence[bytes], number: int, labels: Sequence[str] = ()) -> tuple[P, P]:
    """(the rest, about `number` held out), at most half, the same share of each label. Equal marks stay together."""
    number = min(number, len(part) // 2)
    names = labels or [""] * len(part)
    label = dict(zip(reversed(marks), reversed(names), strict=True))  # among equal marks the first counts
    sizes = Counter(marks)
    left = {name: round(count * number / len(part)) for name, count in Counter(names).items()}
    taken: set[bytes] = set()
    for each in sorted(sizes):
        if sizes[each] <= left[label[each]]:
            taken.add(each)
            left[label[each]] -= sizes[each]
    rest = [i for i, each in enumerate(marks) if each not in taken]
    return part.chosen(rest), part.chosen(i for i, each in enumerate(marks) if each in taken)


def source_options(
    readers: Mapping[str, Callable[..., Any]], rules: Mapping[str, Mapping[str, ValueRule]] = MappingProxyType({})
) -> dict[str, Schema]:
    """The options of every kind of source; `rules`, by kind, where a type alone says too little.

    `config`, which every reader takes, is not an option.
    """
    return {kind: keywords(make, rules.get(kind, {}), without=("config",)) for kind, make in readers.items()}


def two_columns(key: str, value: object) -> list[str | int]:
    """Two columns, by name or by number from 1."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(type(each) in (str, int) for each in value):
        raise wrong_type(key, value, "columns")
    return list(value)
