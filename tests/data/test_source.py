from __future__ import annotations

import pytest

from glassformer.config import Choice
from glassformer.data.source import count, names, names_or_count, read_options, two_columns
from glassformer.errors import ConfigError
from glassformer.recipe import DataConfig


def reader(config: DataConfig, *, train: str, test: int = 3) -> None: ...


def test_options_are_checked_against_the_reader() -> None:
    checks = {"train": names, "test": count}
    assert read_options(Choice("files", {"train": "a"}), reader, checks) == {"train": "a"}
    with pytest.raises(ConfigError, match=r"source\.tain: 'files' has no such option; did you mean train"):
        read_options(Choice("files", {"tain": "a"}), reader, checks)
    with pytest.raises(ConfigError, match="train"):
        read_options(Choice("files", {"test": 3}), reader, checks)


def test_what_an_option_must_be() -> None:
    assert names("k", "a") == "a" and names_or_count("k", 3) == 3 and two_columns("k", ["a", 2]) == ["a", 2]
    for check, wrong in ((names, 3), (names, []), (names_or_count, -1), (two_columns, ["a"]), (count, "3")):
        with pytest.raises(ConfigError, match="k="):
            check("k", wrong)
