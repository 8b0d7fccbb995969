from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from data.grammar.gold import GOLD, ME, adjective, adverb, phrase, say, verb
from glassformer.data.grammar import LABELS, labelled
from glassformer.data.grammar.labels import sentiment, topic
from glassformer.data.grammar.tree import Sentence
from glassformer.errors import ConfigError

SOUP, MOVIE = phrase("수프", "this"), phrase("영화", "the")


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (say(adjective("맛있다", SOUP)), ("positive", False)),
        (say(adjective("맛없다", SOUP)), ("negative", False)),
        (say(adjective("맛있다", SOUP, negative=True)), ("negative", True)),
        (say(adjective("지루하다", MOVIE, negative=True)), ("positive", True)),
        (say(verb("싫어하다", ME, object=phrase("커피"), negative=True)), ("positive", True)),
        (say(adjective("맛있다", SOUP), "question"), None),
        (say(adjective("예쁘다", phrase("꽃", "this"), degree=adverb("degree", "너무"))), None),
        (say(verb("열다", ME, object=phrase("문"))), None),
    ],
)
def test_sentiment_is_decided_by_words_and_negation(tree: Sentence, expected: tuple[str, bool] | None) -> None:
    assert sentiment(tree) == expected


def test_a_topic_is_what_all_words_agree_on() -> None:
    assert topic(say(verb("먹다", ME, object=phrase("사과")))) == ("food", False)
    assert topic(say(verb("사다", ME, object=phrase("사과")))) == ("food", False)
    assert topic(say(verb("그리다", ME, object=phrase("나무")))) is None  # art or nature?
    assert topic(GOLD[1][0]) == ("study", False)


@pytest.mark.many
@pytest.mark.parametrize("level", ["small", "full"])
@pytest.mark.parametrize("label", ["sentiment", "topic"])
def test_labels_are_even_and_the_splits_apart(label: str, level: str) -> None:
    train = labelled("train", 120, label=label, level=level)
    test = labelled("test", 36, label=label, level=level)
    counts = Counter(row.label for row in train)
    assert set(counts) == set(LABELS[label])
    assert max(counts.values()) - min(counts.values()) <= 1
    assert not {row.source_ko for row in train} & {row.source_ko for row in test}
    assert {row.pair.tags.kind for row in train} == {"seen-like"}
    assert len({row.pair.tags.kind for row in test}) > 1


@pytest.mark.slow
def test_no_single_word_decides_the_sentiment() -> None:
    labels: dict[str, set[str]] = defaultdict(set)
    rows = labelled("train", 1200)
    for row in rows:
        for word in set(row.target_en.lower().split()):
            labels[word].add(row.label)
    feeling = ("boring", "delicious", "interesting", "kind", "sick", "pretty", "not")
    assert all(labels[word] == {"positive", "negative"} for word in feeling)
    negated = [row for row in rows if "not" in row.target_en.split()]
    assert 0.4 < len(negated) / len(rows) < 0.6
    assert abs(sum(row.label == "positive" for row in negated) / len(negated) - 0.5) < 0.1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_sentences() -> None:
    assert labelled("validation", 12, seed=2) == labelled("validation", 12, seed=2)
    assert labelled("validation", 12, seed=2) != labelled("validation", 12, seed=3)


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(ConfigError, match="label='mood' is unknown; use one of: sentiment, topic"):
        labelled("train", 1, label="mood")


def test_chosen_kinds_come_as_they_are_drawn() -> None:
    rows = labelled("test", 12, kinds=["subject-verb"])
    assert {row.pair.tags.kind for row in rows} == {"subject-verb"}
    assert len({row.source_ko for row in rows}) == 12
