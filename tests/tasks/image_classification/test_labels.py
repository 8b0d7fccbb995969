from __future__ import annotations

import numpy as np
import pytest

from glassformer.data.pictures import Pictures
from glassformer.errors import InputError
from glassformer.tasks.image_classification.labels import learn_labels, numbered
from tiny_tasks import tiny

CONFIG = tiny("image_classification")


def labelled(*labels: str) -> Pictures:
    return Pictures(np.zeros((len(labels), 1, 2, 2), dtype=np.uint8), list(labels), "here")


def test_numbers_in_their_order_words_in_that_of_the_alphabet() -> None:
    assert learn_labels(CONFIG, labelled("10", "9", "10", "0")) == ["0", "9", "10"]
    assert learn_labels(CONFIG, labelled("b", "10", "a")) == ["10", "a", "b"]


def test_names_stand_for_numbers() -> None:
    assert numbered(labelled("0", "1", "0"), ["shirt", "shoe"]).tolist() == [0, 1, 0]
    assert numbered(labelled("shoe", "shirt"), ["shirt", "shoe"]).tolist() == [1, 0]


def test_what_cannot_be_told_apart_or_was_never_learned() -> None:
    with pytest.raises(InputError, match=r"the training images of here have one class only \(7\)"):
        learn_labels(CONFIG, labelled("7", "7"))
    with pytest.raises(
        InputError, match=r"here holds images of the class '9', which is not among those learned \(a, b\)"
    ):
        numbered(labelled("0", "9"), ["a", "b"])
