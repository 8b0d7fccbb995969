from __future__ import annotations

from typing import Any

import pytest

from glassformer.config.model import Choice
from glassformer.config.values import word
from glassformer.data.source import count, names, names_or_count, read_options, two_columns
from glassformer.errors import ConfigError


def make(config: object, *, train: str, test: int = 3) -> None:
    """Stands for a reader."""


CHECKS = {"train": word, "test": count}


def test_what_is_given_is_checked_and_the_rest_is_left_to_the_reader() -> None:
    assert read_options(Choice("files", {"train": "a.tsv"}), make, CHECKS) == {"train": "a.tsv"}
    assert read_options(Choice("files", {"train": "a.tsv", "test": 0}), make, CHECKS) == {"train": "a.tsv", "test": 0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": "a", "tests": 1}, "source.tests: 'files' has no such option; did you mean test?"),
        ({"test": 1}, "source='files' needs the option train; write source = "),
        ({"train": 5}, "source.train=5 is of the wrong type; use a word in quotes"),
        ({"train": "a", "test": -1}, "source.test=-1 is out of range; use 0 to"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_options(Choice("files", options), make, CHECKS)
    assert str(caught.value).startswith(message)


def test_names_and_columns() -> None:
    assert (names("k", "a"), names("k", ("a", "b"))) == ("a", ["a", "b"])
    assert (names_or_count("k", "a"), names_or_count("k", 4)) == ("a", 4)
    assert two_columns("k", ("text", 2)) == ["text", 2]
    for value in ([], [1], 5):
        with pytest.raises(ConfigError, match=r"k=.* is of the wrong type; use a name, or a list of names"):
            names("k", value)
    for columns in (["a"], [True, 1], "ab"):
        with pytest.raises(ConfigError, match=r"k=.* is of the wrong type; use two columns, such as"):
            two_columns("k", columns)
