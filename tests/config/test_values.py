from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glassformer.config.values import (
    BIASES,
    LARGEST_SIZE,
    biases,
    name_or_names,
    not_negative,
    one_of,
    positive,
    rate,
    size,
    size_or_zero,
    truth,
    word,
)
from glassformer.errors import ConfigError


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (size, 1, 1),
        (size, LARGEST_SIZE, LARGEST_SIZE),
        (size_or_zero, 0, 0),
        (rate, 0, 0.0),
        (not_negative, 0, 0.0),
        (not_negative, 2, 2.0),
        (name_or_names, "a", "a"),
        (name_or_names, ("a", "b"), ["a", "b"]),
        (positive, 3, 3.0),
        (truth, False, False),
        (word, "x", "x"),
        (biases, True, BIASES),
        (biases, False, ()),
        (biases, "norm", ("norm",)),
        (biases, "v,q", ("q", "v")),
        (biases, ["o", "o"], ("o",)),
        (biases, frozenset({"k"}), ("k",)),
        (biases, [], ()),
    ],
)
def test_a_value_gets_its_final_form(check: Callable[[str, object], object], value: object, expected: object) -> None:
    found = check("key", value)
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize(
    ("check", "value", "line"),
    [
        (size, True, "key=True is of the wrong type; use a whole number, such as 512"),
        (size, 0, "key=0 is out of range; use 1 to 2147483647"),
        (size, LARGEST_SIZE + 1, "key=2147483648 is out of range; use 1 to 2147483647"),
        (rate, 1, "key=1 is not a rate; use 0 or more, and less than 1"),
        (rate, "x", "key='x' is of the wrong type; use a number, such as 0.1"),
        (positive, float("nan"), "key=nan is not positive and finite; use a number above 0"),
        (positive, True, "key=True is of the wrong type; use a number, such as 1e-5"),
        (truth, 1, "key=1 is of the wrong type; use true or false"),
        (word, 1, "key=1 is of the wrong type; use a word in quotes"),
        (biases, "query", "key='query' is unknown; use one of: q, k, v, o, feed_forward, norm"),
        (biases, [1], "key=1 is of the wrong type; use a word in quotes"),
        (biases, {"q": 1}, 'key={\'q\': 1} is of the wrong type; use true, false, or a list such as ["q", "k", "v"]'),
    ],
)
def test_a_value_that_will_not_do_is_one_line(check: Callable[[str, object], object], value: Any, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check("key", value)
    assert str(caught.value) == line


@pytest.mark.parametrize("value", [[], [1], 5])
def test_what_is_no_list_of_names(value: object) -> None:
    with pytest.raises(ConfigError, match=r"k=.* is of the wrong type; use a name, or a list of names"):
        name_or_names("k", value)


def test_a_word_of_a_list() -> None:
    assert one_of("key", "b", ("a", "b")) == "b"
    with pytest.raises(ConfigError, match=r"^key='c' is unknown; use one of: a, b$"):
        one_of("key", "c", ("a", "b"))
