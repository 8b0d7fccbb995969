from __future__ import annotations

import sys

import pytest

from glassformer.data.moses import preparation, prepared_side
from glassformer.data.pairs import Pairs
from glassformer.errors import ConfigError

PAIRS = Pairs(["It's a Dog, isn't it?"], ["Das ist ein Hund."], (3,))


def test_nothing_is_done_unless_it_is_asked_for() -> None:
    assert preparation("none", "en", "de")(PAIRS) is PAIRS


@pytest.mark.parametrize(
    ("how", "source", "target"),
    [
        ("lowercase", "it's a dog, isn't it?", "das ist ein hund."),
        ("moses", "It 's a Dog , isn 't it ?", "Das ist ein Hund ."),
        ("moses-lowercase", "it 's a dog , isn 't it ?", "das ist ein hund ."),
    ],
)
def test_text_as_the_older_literature_has_it(how: str, source: str, target: str) -> None:
    if how.startswith("moses"):
        pytest.importorskip("sacremoses")
    assert preparation(how, "en", "de")(PAIRS) == Pairs([source], [target], (3,))


def test_an_unknown_way() -> None:
    with pytest.raises(ConfigError, match="prepare='upper' is unknown; use one of: none, lowercase, moses"):
        preparation("upper", "en", "de")


def test_without_its_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(ConfigError, match=r"prepare=moses needs a package .* pip install 'glassformer\[moses\]'"):
        preparation("moses", "en", "de")


def test_one_side_alone() -> None:
    assert prepared_side("lowercase", "en")("A Man") == "a man"
    assert prepared_side("none", "en")("A Man") == "A Man"
