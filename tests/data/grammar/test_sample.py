from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pytest

from glassformer.data.grammar import KINDS, every_pair, pairs, realise_english, sample, sentence, stream
from glassformer.data.grammar.choose import Drawn, every
from glassformer.data.grammar.compose import compose
from glassformer.data.grammar.level import Level, level_of
from glassformer.data.grammar.pair import Word
from glassformer.data.grammar.realise_korean import realise
from glassformer.data.grammar.sample import drawn, realised
from glassformer.data.grammar.tree import Clause, NounPhrase, Predicate, Sentence
from glassformer.errors import ConfigError, InputError

T = TypeVar("T")
LEVELS = ("small", "full")
SOURCE = Path(sample.__file__).parents[3]


class Towards:
    """Chooses these words wherever they are offered, and the first of all else."""

    def __init__(self, *lemmas: str) -> None:
        self.lemmas = lemmas

    def pick(self, options: Sequence[T]) -> T:
        return next((option for option in options if getattr(option, "lemma", "") in self.lemmas), options[0])

    def weigh(self, options: Sequence[tuple[T, float]]) -> T:
        return next(option for option, weight in options if weight)

    def chance(self, probability: float) -> bool:
        return False


@pytest.mark.parametrize("name", LEVELS)
def test_the_first_sentence_of_every_course_is_there(name: str) -> None:
    of = level_of(name)
    tree = compose(Towards("나", "가다", "학교"), of, "motion")
    assert tree is not None
    pair = realised(tree, of)
    assert (pair.source_ko, pair.target_en) == ("나는 학교에 간다", "I go to school")
    assert pair.alignment == ((0, 0), (1, 2), (1, 3), (2, 1))
    other = compose(Towards("나", "공부하다", "Transformer"), of, "transitive")
    assert other is not None
    assert realised(other, of).target_en == "I study Transformers"


def digest(name: str) -> str:
    said = [sentence(index, 7, name) for index in range(200)]
    return hashlib.sha256("\n".join(f"{pair}" for pair in said).encode()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("name", LEVELS)
def test_another_process_says_the_same(name: str) -> None:
    code = f"""
import hashlib
from glassformer.data.grammar import sentence
said = [sentence(index, 7, {name!r}) for index in range(200)]
print(hashlib.sha256("\\n".join(f"{{pair}}" for pair in said).encode()).hexdigest())
"""
    environment = {**os.environ, "PYTHONHASHSEED": "4321", "PYTHONPATH": str(SOURCE)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == digest(name)


def test_an_index_stands_for_itself() -> None:
    assert sentence(41, 3) == sentence(41, 3)
    assert sentence(41, 3) != sentence(41, 4)


def said(words: list[Word]) -> str:
    return " ".join(word.text for word in words)


def larger(suite: int, fuzz: int) -> list[Any]:
    """How many sentences `make test` asks for, and how many `make fuzz`, of the same property."""
    return [pytest.param(suite, marks=pytest.mark.slow), pytest.param(fuzz, marks=pytest.mark.fuzz)]


def functions(name: str, count: int) -> None:
    """Each Korean sentence has one English one, and each English one has one Korean one."""
    of = level_of(name)
    english: dict[str, str] = {}
    korean: dict[str, str] = {}
    for index in range(count):
        tree = drawn(11, index, of)
        source, target = said(realise(tree)), said(realise_english.realise(tree))
        assert english.setdefault(source, target) == target
        assert korean.setdefault(target, source) == source
    assert len(english) == len(korean)


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("count", [5_000, *larger(30_000, 300_000)])
def test_both_directions_are_functions(name: str, count: int) -> None:
    functions(name, count)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEVELS)
def test_alignments_are_valid_and_cover_every_word(name: str) -> None:
    for index in range(1500):
        pair = sentence(index, 5, name)
        assert {source for source, _ in pair.alignment} == set(range(len(pair.source_ko.split()))), pair
        assert {target for _, target in pair.alignment} == set(range(len(pair.target_en.split()))), pair
        assert list(pair.alignment) == sorted(set(pair.alignment))


@pytest.mark.slow
@pytest.mark.parametrize("name", LEVELS)
def test_sentences_look_as_they_should(name: str) -> None:
    for index in range(1500):
        pair = sentence(index, 6, name)
        question = pair.tags.mood == "question"
        for text in (pair.source_ko, pair.target_en):
            assert text == " ".join(text.split())
            assert text.endswith("?") == question
            assert not text.endswith((".", ","))
        assert pair.target_en[0].isupper()


@pytest.mark.slow
def test_pairs_are_distinct_and_the_kinds_are_even() -> None:
    test = pairs("test", 101)
    assert len({pair.source_ko for pair in test}) == 101
    counts = Counter(pair.tags.kind for pair in test)
    assert set(counts) == set(KINDS)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert {pair.tags.split for pair in test} == {"test"}
    assert {pair.tags.kind for pair in pairs("test", 20, kinds=("verb-place",))} == {"verb-place"}


def test_a_stream_is_what_pairs_are_taken_from() -> None:
    streamed = list(dict.fromkeys(pair.source_ko for pair in islice(stream("train"), 60)))
    assert [pair.source_ko for pair in pairs("train", len(streamed))] == streamed


@pytest.mark.slow
@pytest.mark.parametrize(("name", "construction"), [("full", "weather"), ("small", "identity")])
def test_counting_finds_exactly_what_can_be_drawn(name: str, construction: str) -> None:
    counted = {pair.source_ko: pair.target_en for pair in every_pair(name, construction)}
    of = level_of(name)
    trees = [compose(Drawn(f"{index}"), of, construction) for index in range(1500)]
    assert {said(realise(tree)) for tree in trees if tree} <= set(counted)
    assert len(set(counted.values())) == len(counted) > 200


@pytest.mark.parametrize("count", larger(50_000, 1_000_000))
def test_there_are_a_million_different_pairs(count: int) -> None:
    """Counted one by one, in one construction alone; both directions being functions, English stands for the pair.

    The suite counts the first of them.
    """
    of = level_of("full")
    found: set[str] = set()
    for tree in every(lambda chooser: compose(chooser, of, "giving")):
        if tree is not None:
            found.add(said(realise_english.realise(tree)))
        if len(found) == count:
            break
    assert len(found) == count


@pytest.mark.parametrize("count", larger(1000, 3000))
def test_every_word_of_the_test_set_is_trained_on(count: int) -> None:
    """Within 60,000 pairs of the training set, which are drawn only until the last word was met."""
    test = pairs("test", count)
    korean = {word.strip("?") for pair in test for word in pair.source_ko.split()}
    english = {word.strip("?") for pair in test for word in pair.target_en.split()}
    for pair in islice(stream("train"), 60_000):
        korean.difference_update(word.strip("?") for word in pair.source_ko.split())
        english.difference_update(word.strip("?") for word in pair.target_en.split())
        if not korean and not english:
            break
    assert (korean, english) == (set(), set())


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="split='dev' is unknown; use one of: train, validation, test"):
        pairs("dev", 1)
    with pytest.raises(ConfigError, match="kind='long' is unknown; use one of: seen-like"):
        pairs("train", 1, kinds=("long",))
    with pytest.raises(ConfigError, match="construction='haiku' is unknown"):
        next(every_pair("small", "haiku"))


@pytest.mark.slow
def test_more_than_there_is_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "PATIENCE", 0)
    with pytest.raises(InputError, match=r"has no 50000 such pairs, only about \d+; ask for fewer, or use level=full"):
        pairs("test", 50_000, kinds=("verb-place",))


def test_a_split_is_the_same_whichever_was_drawn_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The places that one walk leaves behind spare the next one work, and change nothing."""
    wanted = dict.fromkeys(("train", "validation", "test"), 30)
    alone = {}
    for split, count in wanted.items():
        sample._places.cache_clear()
        alone[split] = pairs(split, count, seed=5)
    for order in (("train", "validation", "test"), ("test", "validation", "train")):
        sample._places.cache_clear()
        assert {split: pairs(split, wanted[split], seed=5) for split in order} == alone
    composed: list[int] = []

    def counted(seed: int, index: int, of: Level) -> Sentence:
        composed.append(index)
        return drawn(seed, index, of)

    sample._places.cache_clear()
    pairs("train", 300, seed=5)
    monkeypatch.setattr(sample, "drawn", counted)
    pairs("validation", 3, seed=5)
    assert len(composed) < max(composed) / 2  # those of the training set were passed over


@pytest.mark.parametrize(
    ("hunter", "prey", "korean", "english"),
    [
        ("고양이", "쥐", "고양이가 쥐를 잡았다", "A cat caught a mouse"),
        ("쥐", "고양이", "쥐가 고양이를 잡았다", "A mouse caught a cat"),
    ],
)
def test_particles_say_who_caught_whom(hunter: str, prey: str, korean: str, english: str) -> None:
    """Both are sentences to learn from, and both levels draw sentences like them."""
    small = level_of("small")
    first, second = (NounPhrase(small.lexicon.nouns[name]) for name in (hunter, prey))
    found = realised(
        Sentence(Clause(Predicate("verb", small.lexicon.verbs["잡다"]), first, second, tense="past"), "transitive"),
        small,
    )
    assert (found.source_ko, found.target_en, found.tags.split) == (korean, english, "train")
    for level in LEVELS:
        drawn_ones = pairs("train", 20_000 if level == "small" else 60_000, level=level)
        assert any(one.source_ko.startswith(f"{hunter}가 ") and " 잡" in one.source_ko for one in drawn_ones)
