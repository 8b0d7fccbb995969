"""Pairs by seed and index: one sentence, a split, or every sentence of a construction in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count as numbers
from typing import TypeVar

from glassformer.data.grammar import realise_english, realise_korean
from glassformer.data.grammar.choose import Chooser, Drawn, every
from glassformer.data.grammar.compose import CONSTRUCTIONS, compose
from glassformer.data.grammar.level import Level, level_of
from glassformer.data.grammar.pair import GrammarPair, Tags, alignment
from glassformer.data.grammar.splits import SPLITS, held_out_kinds, sentence_split
from glassformer.data.grammar.tree import Sentence
from glassformer.errors import InputError, choose

T = TypeVar("T")
REMEMBERED = 200_000  # sentences of a seed whose split is kept in mind
PATIENCE = 200_000  # repeated sentences in a row, after which the level is taken to have no more of this kind


def drawn(seed: int, index: int, of: Level) -> Sentence:
    """The index-th tree of a seed; decisions that lead to no sentence are drawn again, reproducibly."""
    for attempt in numbers():
        tree = compose(Drawn(f"{of.name}:{seed}:{index}:{attempt}"), of)
        if tree is not None:
            return tree
    raise AssertionError


def realised(tree: Sentence, of: Level, held_out: set[str] | None = None) -> GrammarPair:
    """Both languages of a tree, its alignment and its place in the splits."""
    korean, english = realise_korean.realise(tree), realise_english.realise(tree)
    source, target = " ".join(word.text for word in korean), " ".join(word.text for word in english)
    held_out = held_out_kinds(tree) if held_out is None else held_out
    split, kind = sentence_split(held_out, source, target, of.limits) or ("none", "none")
    return GrammarPair(
        source, target, alignment(korean, english), Tags(tree.construction, tree.speech, tree.mood, split, kind)
    )


def sentence(index: int, seed: int = 0, level: str = "full") -> GrammarPair:
    """The index-th pair of a seed, whatever split it belongs to (tags.split; "none" for none)."""
    of = level_of(level)
    return realised(drawn(seed, index, of), of)


@cache
def _places(seed: int, levels: tuple[Level, ...]) -> dict[int, tuple[str, str]]:
    """Index → split and kind of the sentences that were realised so far.

    Every split walks the same indices, and about one sentence in thirty is for validation: once the training set has
    been drawn, the walk for the validation set passes over the others without composing them again.
    """
    return {}


def trees(
    split: str,
    seed: int,
    levels: Sequence[Level],
    kinds: Sequence[str],
    wanted: Callable[[Sentence], bool] | None = None,
) -> Iterator[tuple[Sentence, GrammarPair]]:
    """All pairs of a split, of these kinds and of wanted trees in the order of their index, with repetitions.

    The levels take turns.
    """
    news = {kind for kind in kinds if kind not in ("seen-like", "long")}
    plain = "seen-like" in kinds or "long" in kinds
    places = _places(seed, tuple(levels))
    for index in numbers():
        if index in places and not (places[index][0] == split and places[index][1] in kinds):
            continue
        of = levels[index % len(levels)]
        tree = drawn(seed, index, of)
        if wanted is not None and not wanted(tree):
            continue
        held_out = held_out_kinds(tree)
        if held_out <= news if held_out else plain:
            pair = realised(tree, of, held_out)
            if index < REMEMBERED:
                places[index] = pair.tags.split, pair.tags.kind
            if pair.tags.split == split and pair.tags.kind in kinds:
                yield tree, pair


def stream(
    split: str, *, seed: int = 0, level: str = "small", kinds: Sequence[str] | None = None
) -> Iterator[GrammarPair]:
    """An endless stream of pairs of a split, as the grammar draws them: short sentences repeat, long ones hardly."""
    return (pair for _, pair in trees(split, seed, [level_of(level)], kinds_of(split, kinds)))


def pairs(
    split: str, count: int, *, seed: int = 0, level: str = "small", kinds: Sequence[str] | None = None
) -> list[GrammarPair]:
    """`count` different pairs of a split; for the test split, equally many of each kind."""
    wanted = kinds_of(split, kinds)
    found = trees(split, seed, [level_of(level)], wanted)
    return [pair for _, pair in evenly(found, count, wanted, lambda _, pair: pair.tags.kind)]


def kinds_of(split: str, kinds: Sequence[str] | None) -> tuple[str, ...]:
    """The kinds that a split holds, or those asked for."""
    held = choose("split", split, SPLITS)
    for kind in kinds or ():
        choose("kind", kind, {name: name for name in held})
    return tuple(kinds or held)


def evenly(
    found: Iterator[tuple[Sentence, GrammarPair]],
    count: int,
    cells: Sequence[T],
    cell_of: Callable[[Sentence, GrammarPair], T | None],
) -> list[tuple[Sentence, GrammarPair]]:
    """`count` different pairs, equally many from each cell; pairs without a cell are left out."""
    left = {cell: (count + place) // len(cells) for place, cell in enumerate(cells)}
    chosen: dict[str, tuple[Sentence, GrammarPair]] = {}
    idle = 0
    while len(chosen) < count:
        tree, pair = next(found)
        cell = cell_of(tree, pair)
        if cell is not None and left.get(cell, 0) and pair.source_ko not in chosen:
            chosen[pair.source_ko] = tree, pair
            left[cell] -= 1
            idle = 0
        elif (idle := idle + 1) > PATIENCE:
            raise InputError("corpus_exhausted", count=count, found=len(chosen))
    return list(chosen.values())


def every_pair(level: str, construction: str) -> Iterator[GrammarPair]:
    """Every derivation of a construction in turn, to count them exactly."""
    of = level_of(level)
    choose("construction", construction, CONSTRUCTIONS)

    def derive(chooser: Chooser) -> Sentence | None:
        return compose(chooser, of, construction)

    for tree in every(derive):
        if tree is not None:
            yield realised(tree, of)
