from __future__ import annotations

import pytest

from glassformer.config.options import REQUIRED
from glassformer.config.values import count
from glassformer.data.source import source_options, two_columns
from glassformer.errors import ConfigError


def make(config: object, *, train: str, test: int = 3) -> None:
    """Stands for a reader."""


def test_the_options_of_a_source_are_the_keywords_of_its_reader() -> None:
    known = source_options({"files": make, "more": make}, {"files": {"test": count}})
    assert [list(schema) for schema in known.values()] == [["train", "test"]] * 2
    assert (known["files"]["train"].default, known["files"]["test"].default) == (REQUIRED, 3)
    assert known["files"]["test"].judge("source.test", 0) == 0
    with pytest.raises(ConfigError, match=r"source\.test=0 is out of range; use 1 to"):
        known["more"]["test"].judge("source.test", 0)


def test_columns() -> None:
    assert two_columns("k", ("text", 2)) == ["text", 2]
    for columns in (["a"], [True, 1], "ab"):
        with pytest.raises(ConfigError, match=r"k=.* is of the wrong type; use two columns, such as"):
            two_columns("k", columns)
