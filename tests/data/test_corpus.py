from __future__ import annotations

import pytest

from glassformer.config.options import REQUIRED
from glassformer.config.recipe import DataConfig
from glassformer.config.values import size_or_zero
from glassformer.data.corpus import Corpus, content_mark, from_kinds, from_parts, held_out, source_options, two_columns
from glassformer.data.documents import Documents
from glassformer.data.grammar import KINDS
from glassformer.errors import ConfigError, GlassformerError


def test_of_each_label_its_share_is_held_out_and_copies_stay_together() -> None:
    texts = Documents([*(f"a{i}" for i in range(8)), *(f"b{i}" for i in range(4)), "a0", "a0"])
    labels = ["a"] * 8 + ["b"] * 4 + ["a"] * 2
    marks = [content_mark(0, text.encode()) for text in texts]
    rest, kept = held_out(texts, marks, 6, labels)
    assert sorted([*rest, *kept]) == sorted(texts)
    assert not set(rest) & set(kept)
    shares = [sum(text.startswith(name) for text in kept) for name in "ab"]
    assert shares[1] == 2  # 4 of 14 are b: 6 · 4 / 14 = 1.7
    assert shares[0] <= 4  # 6 · 10 / 14 = 4.3; a mark that would be too many is passed over


def test_at_most_half_is_held_out_and_the_seed_draws() -> None:
    texts = Documents([str(i) for i in range(10)])
    drawn = {tuple(held_out(texts, [content_mark(seed, text.encode()) for text in texts], 99)[1]) for seed in range(5)}
    assert {len(some) for some in drawn} == {5}
    assert len(drawn) > 1


def test_a_split_from_its_own_place_or_out_of_the_training_part() -> None:
    read: list[str] = []

    def text(place: str) -> str:
        read.append(place)
        return place

    def halves(whole: str) -> tuple[str, str]:
        return whole[:-1], whole[-1:]

    apart = from_parts(text, halves, train="abc", validation=None, test={"easy": "d", "hard": "e"})
    assert (apart("train"), apart("validation")) == ({"train": "ab"}, {"validation": "c"})
    assert read == ["abc"]  # once for both
    assert apart("test") == {"easy": "d", "hard": "e"}
    given = from_parts(text, halves, train="abc", validation="f", test={})
    assert (given("train"), given("validation"), given("test")) == ({"train": "abc"}, {"validation": "f"}, {})


def test_of_the_grammar_each_kind_of_the_test_set_stands_apart() -> None:
    groups = from_kinds(lambda split, number, kinds: (split, number, kinds), count=9, validation=2, test=3)
    assert groups("train") == {"train": ("train", 9, None)}
    assert groups("validation") == {"validation": ("validation", 2, None)}
    assert groups("test") == {kind: ("test", 3, [kind]) for kind in KINDS}


def test_a_split_that_does_not_exist_is_refused() -> None:
    with pytest.raises(GlassformerError, match="split"):
        Corpus(DataConfig(), lambda split: {split: Documents([])}).split("dev")


def test_a_limit_draws_training_examples_by_the_seed_and_leaves_the_other_splits_alone() -> None:
    texts = Documents([str(i) for i in range(100, 200)])

    def drawn(limit: int, seed: int = 0) -> list[str]:
        corpus = Corpus(DataConfig(limit=limit, seed=seed), lambda split: {split: texts})
        assert list(corpus.validation) == list(corpus.split("test")["test"]) == list(texts)
        return list(corpus.train)

    assert len(drawn(30)) == 30 and drawn(30) == sorted(set(drawn(30))) == drawn(30)
    assert drawn(30) != drawn(30, seed=1)
    assert drawn(0) == drawn(100) == drawn(1000) == list(texts)


def make(config: object, *, train: str, test: int = 3) -> None:
    """Stands for a reader."""


def test_the_options_of_a_source_are_the_keywords_of_its_reader() -> None:
    known = source_options({"files": make, "more": make}, {"files": {"test": size_or_zero}})
    assert [list(schema) for schema in known.values()] == [["train", "test"]] * 2
    assert (known["files"]["train"].default, known["files"]["test"].default) == (REQUIRED, 3)
    assert known["files"]["test"].check("source.test", 0) == 0
    with pytest.raises(ConfigError, match=r"source\.test=0 is out of range; use 1 to"):
        known["more"]["test"].check("source.test", 0)


def test_columns() -> None:
    assert two_columns("k", ("text", 2)) == ["text", 2]
    for columns in (["a"], [True, 1], "ab"):
        with pytest.raises(ConfigError, match=r"k=.* is of the wrong type; use two columns, such as"):
            two_columns("k", columns)
