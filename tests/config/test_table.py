from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import pytest

from glassformer.config.recipe import TABLES, RunTable
from glassformer.config.table import ConfigTable, checked
from glassformer.config.values import Choice, rate
from glassformer.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Toy(ConfigTable):
    """A table of three keys."""

    width: int = 8
    depth: int | None = None
    share: float = checked(0.0, rate)
    kind: Choice = Choice("plain")


def test_values_are_judged_by_type_and_by_rule() -> None:
    assert Toy(share=0, kind="round") == Toy(kind=Choice("round"))  # type: ignore[arg-type]
    assert type(Toy(share=0).share) is float
    with pytest.raises(FrozenInstanceError):
        Toy().width = 9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"widht": 9}, "widht: no such key; did you mean width?"),
        ({"width": None}, "width=None is of the wrong type; use a whole number"),
        ({"width": 0}, "width=0 is out of range; use 1 to"),
        ({"depth": "deep"}, "depth='deep' is of the wrong type"),
        ({"share": 1.0}, "share=1.0 is not a rate"),
        ({"kind": {"size": 3}}, "kind is a table without kind"),
        ({5: 5}, "key=5 is of the wrong type"),
    ],
)
def test_what_is_wrong_is_answered(keys: dict[Any, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Toy.from_dict(keys)
    assert str(caught.value).startswith(message)


def test_replacing_a_value_judges_it() -> None:
    with pytest.raises(ConfigError, match="width=-1 is out of range"):
        replace(Toy(), width=-1)


def test_only_what_differs_is_written() -> None:
    assert Toy().to_dict() == {}
    table = Toy(width=3, kind=Choice("round", {"size": 2}))
    assert table.to_dict() == {"width": 3, "kind": {"kind": "round", "size": 2}}
    assert Toy.from_dict(table.to_dict()) == table == pickle.loads(pickle.dumps(table))


def test_the_options_of_a_choice_may_be_a_table() -> None:
    assert Toy.from_choice("task", Choice("toy", {"width": 3})) == Toy(width=3)
    with pytest.raises(ConfigError, match=r"task\.widht: 'toy' has no such option; did you mean width\?"):
        Toy.from_choice("task", Choice("toy", {"widht": 3}))
    with pytest.raises(ConfigError, match=r"task\.width=0 is out of range"):
        Toy.from_choice("task", Choice("toy", {"width": 0}))


def test_one_key_is_overridden() -> None:
    given = {"width": 3}
    assert Toy.override(given, "depth", 2) == {"width": 3, "depth": 2}
    assert Toy.override(given, "kind.size", 2) == {"width": 3, "kind": {"kind": "plain", "size": 2}}
    assert Toy.override({"kind": "round"}, "kind.size", 2) == {"kind": {"kind": "round", "size": 2}}
    assert Toy.override({"kind": {"kind": "a", "size": 1}}, "kind.kind", "b") == {"kind": {"kind": "b", "size": 1}}
    assert given == {"width": 3}


@pytest.mark.parametrize(
    ("table", "name", "message"),
    [
        ({}, "width.size", "width.size: no such key; there are: kind"),
        ({}, "kidn.size", "kidn.size: no such key; did you mean kind?"),
        ({"kind": 5}, "kind.size", "kind=5 is of the wrong type"),
    ],
)
def test_what_has_no_inside_cannot_be_overridden_there(table: dict[str, Any], name: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Toy.override(table, name, 1)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("table", [RunTable, *TABLES.values()])
def test_every_default_passes_its_own_rule(table: type[ConfigTable]) -> None:
    assert all(each.check(name, each.default) == each.default for name, each in table.schema().items())
