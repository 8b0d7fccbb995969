from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.data.texts import Texts
from glassformer.errors import ConfigError, InputError
from glassformer.tasks.classification.labels import class_weights, given_labels, learn_labels, numbered


def recipe(**options: Any) -> RunConfig:
    return replace(RunConfig(), task=Choice("classification", options))


def texts(*labels: str) -> Texts:
    return Texts(["t"] * len(labels), list(labels))


def test_words_in_the_order_of_the_alphabet_and_numbers_in_their_own() -> None:
    assert learn_labels(recipe(), texts("b", "a", "c", "a")) == ["a", "b", "c"]
    assert learn_labels(recipe(), texts("10", "9", "-1")) == ["-1", "9", "10"]
    assert learn_labels(recipe(), texts("10", "9", "x")) == ["10", "9", "x"]
    assert learn_labels(recipe(labels=["good", "bad"]), texts("bad", "good")) == ["good", "bad"]


def test_one_label_is_nothing_to_learn() -> None:
    with pytest.raises(InputError, match=r"the training set has one label only \(a\), and there is nothing to tell"):
        learn_labels(recipe(), texts("a", "a"))


def test_a_class_is_found_by_name_or_by_number() -> None:
    assert numbered(texts("b", "a"), ["a", "b"], "train") == [1, 0]
    assert numbered(texts("0", "1"), ["negative", "positive"], "train") == [0, 1]
    assert numbered(texts("1", "0"), ["1", "0"], "train") == [0, 1]  # a name before a number


def test_a_label_that_was_not_learned_is_refused() -> None:
    line = r"the label 'c' of text 2 in the part 'test' is not among those learned \(a, b\); mend it"
    with pytest.raises(InputError, match=line):
        numbered(texts("a", "c"), ["a", "b"], "test")


@pytest.mark.parametrize("value", ["a", ["a", "a"], ["a", ""], ["a", 1], 5])
def test_labels_that_are_no_list_of_names(value: object) -> None:
    with pytest.raises(ConfigError, match=r"task\.labels=.* is of the wrong type; use a list of different names"):
        given_labels(recipe(labels=value))
    assert given_labels(recipe()) is None


def test_balanced_weights_are_the_equation() -> None:
    found = class_weights(recipe(weights="balanced"), [0, 0, 0, 1], 2)
    assert found == [4 / 6, 4 / 2]
    assert class_weights(recipe(), [0, 1], 2) is None


def test_weights_of_ones_own_are_1_on_average() -> None:
    found = class_weights(recipe(weights=[1, 3]), [0, 0, 0, 1], 2)
    assert found == pytest.approx([4 / 6, 12 / 6])
    assert sum(found[i] for i in (0, 0, 0, 1)) / 4 == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("even", r"task\.weights='even' is of the wrong type; use \"balanced\", or a list"),
        ([1, 2, 3], "task.weights has 3 numbers for 2 classes; give one for each"),
        ([1, -1], r"task\.weights=-1 is not positive"),
        ([1, float("nan")], r"task\.weights=nan is not positive"),
    ],
)
def test_weights_that_are_none(value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        class_weights(recipe(weights=value), [0, 1], 2)


def test_a_number_that_training_has_not_seen_is_no_other_class() -> None:
    for names, labels in ((["1", "2", "3"], ["1", "0"]), (["mid", "neg"], ["mid", "0"])):
        with pytest.raises(InputError, match="'0'"):
            numbered(Texts(["a", "b"], labels), names, "test")
    assert numbered(Texts(["a", "b"], ["1", "0"]), ["negative", "positive"], "test") == [1, 0]
