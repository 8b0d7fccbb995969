from __future__ import annotations

from glassformer.data.topics import _without_repetitions, topics


def test_the_splits_share_no_paragraph() -> None:
    splits = {name: topics(name) for name in ("train", "validation", "test")}
    paragraphs = {name: {p for text in some for p in text.strip().split("\n\n")} for name, some in splits.items()}
    assert not paragraphs["train"] & (paragraphs["validation"] | paragraphs["test"])
    assert not paragraphs["validation"] & paragraphs["test"]


def test_a_tenth_each_is_looked_at_and_kept_for_the_end() -> None:
    train, validation, test = (topics(name).characters for name in ("train", "validation", "test"))
    total = train + validation + test
    assert total > 200_000 and train > 0.6 * total
    assert min(validation, test) >= 0.1 * total


def test_a_paragraph_that_comes_back_is_dropped() -> None:
    texts = {"a": "one\n\ntwo\n", "b": "   two\n\nthree", "c": "one"}
    assert _without_repetitions(texts) == {"a": "one\n\ntwo\n", "b": "three\n"}
