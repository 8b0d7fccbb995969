from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from glassformer.config.options import REQUIRED, Kinds, Option, check_choice, complete, keywords, known_key
from glassformer.config.values import Choice, one_of, rate, size_or_zero
from glassformer.errors import ConfigError


def make(config: object, *, train: str, test: int = 3, header: bool | None = None, share: float = 0.5) -> None:
    """Stands for a reader, or a box."""


SCHEMA = keywords(make, {"test": size_or_zero, "share": rate}, without=("config",))


def test_a_schema_is_read_off_a_signature() -> None:
    assert {name: each.default for name, each in SCHEMA.items()} == {
        "train": REQUIRED,
        "test": 3,
        "header": None,
        "share": 0.5,
    }
    assert SCHEMA["header"].check("header", None) is None
    with pytest.raises(ConfigError, match="train=None is of the wrong type; use a word in quotes"):
        SCHEMA["train"].check("train", None)


def test_what_is_given_is_judged_and_the_rest_is_left_to_the_function() -> None:
    assert check_choice("source", Choice("files", {"train": "a.tsv"}), SCHEMA) == {"train": "a.tsv"}
    both = {"train": "a.tsv", "test": 0}
    assert check_choice("source", Choice("files", both), SCHEMA) == both


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": "a", "tests": 1}, "source.tests: 'files' has no such option; did you mean test?"),
        ({"train": "a", "zzz": 1}, "source.zzz: 'files' has no such option; there are: header, share, test, train"),
        ({"test": 1}, "source='files' needs the option train; write source = "),
        ({"train": 5}, "source.train=5 is of the wrong type; use a word in quotes"),
        ({"train": "a", "test": -1}, "source.test=-1 is out of range; use 0 to"),
        ({"train": "a", "share": 1.0}, "source.share=1.0 is not a rate"),
        ({"train": "a", "header": 1}, "source.header=1 is of the wrong type; use true or false"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_choice("source", Choice("files", options), SCHEMA)
    assert str(caught.value).startswith(message)


def test_a_kind_without_options_has_none() -> None:
    assert check_choice("norm", Choice("rms"), {}) == {}
    with pytest.raises(ConfigError, match=r"norm\.eps: 'rms' has no options; write norm = \"rms\""):
        check_choice("norm", Choice("rms", {"eps": 1}), {})


def test_a_key_that_there_is_not() -> None:
    assert known_key("steps", ["steps"]) == "steps"
    with pytest.raises(ConfigError, match=r"^stepz: no such key; did you mean steps\?"):
        known_key("stepz", ["steps"])
    with pytest.raises(ConfigError, match=r"^train\.stepz: no such key; did you mean steps\?"):
        known_key("stepz", ["steps"], "train.stepz")
    with pytest.raises(ConfigError, match="key=5 is of the wrong type"):
        known_key(5, ["steps"])


def test_options_that_are_left_out_are_as_by_default() -> None:
    schema = {"low": Option(0.1, rate), "mode": Option("up", partial(one_of, known=("up", "down")))}
    assert complete("schedule", Choice("cyclic", {"mode": "down"}), schema) == {"low": 0.1, "mode": "down"}
    kinds = Kinds({"cyclic": schema, "constant": {}})
    chosen = kinds("schedule", {"kind": "cyclic", "low": 0.2})
    assert chosen == Choice("cyclic", {"low": 0.2, "mode": "up"})
    assert kinds.shortened(chosen) == Choice("cyclic", {"low": 0.2})
    with pytest.raises(ConfigError, match="schedule='cosine' is unknown; use one of: cyclic, constant"):
        kinds("schedule", "cosine")
