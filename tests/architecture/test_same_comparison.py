"""What the comparison of two dumps lets pass, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from glassformer.models.presets import PRESETS
from same_comparison import Comparison, Difference, kinds_between, mended, polynomial

AUTOCAST = {"costs gpt2": (PRESETS["gpt2"](), {"autocast": True})}


def differences(before: Any, after: Any) -> list[str]:
    return [path for path, _ in Comparison().differences(before, after, "part")]


def test_values_keys_and_order_are_compared() -> None:
    assert differences({"a": 1, "b": [2, 3]}, {"a": 1, "b": [2, 3]}) == []
    assert differences({"a": 1, "b": [2, 3]}, {"a": 1, "b": [2, 4]}) == ["part/b/1"]
    assert differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == ["part"]
    assert differences({"a": 1, "b": 2}, {"a": 1}) == ["part"]
    assert differences([1, 2], [1]) == ["part"]


def test_a_formula_may_be_written_otherwise_but_nothing_else_may() -> None:
    assert differences({"formula": "2×b×t+t×b"}, {"formula": "3×t×b"}) == []
    assert differences({"formula": "2×b×t"}, {"formula": "3×b×t"}) == ["part/formula"]
    assert differences({"title": "b×t"}, {"title": "t×b"}) == ["part/title"]


def test_a_file_may_have_moved_if_it_is_there() -> None:
    gone, here, other = (f"src/glassformer/{name}.py" for name in ("neverwas", "errors", "files"))
    assert differences({"source": gone}, {"source": here}) == []
    assert differences({"source": here}, {"source": other}) == ["part/source"]
    assert differences({"source": here}, {"source": gone}) == ["part/source"]


def test_a_quotient_is_not_its_numerator() -> None:
    assert polynomial("d_model÷n_heads") != polynomial("d_model")
    assert polynomial("d_k÷2×2") == polynomial("d_k")


def test_other_symbols_are_a_difference_unless_their_kind_is_known() -> None:
    numbers = {"numbers": "2×3×4"}
    assert differences({"formula": "b×t×4", **numbers}, {"formula": "b×t×w", **numbers}) == []
    assert differences({"formula": "b×t×4", **numbers}, {"formula": "b×t×w", "numbers": "2×3×5"}) != []
    assert differences({"formula": "b×t×d_k", **numbers}, {"formula": "b×t×d_v", **numbers}) == ["part/formula"]


@pytest.mark.parametrize(
    ("before", "after", "known"),
    [
        ("t×4+b×n_heads×s×w", "t×w+b×n_kv_heads×s×w", True),
        ("b×channels×length+channels×d_model", "b×length+d_model", True),
        ("b×whole×w", "b×(context+stride)×w", True),
        ("b×n_kv_heads×s", "b×n_heads×s", False),  # one way only
        ("b×t×4+t", "b×t×w", False),  # a term is gone
    ],
)
def test_kinds_hold_term_by_term(before: str, after: str, known: bool) -> None:
    assert bool(kinds_between(before, after)) == known


@pytest.mark.parametrize(
    ("path", "excused"),
    [
        ("parts/head/saved_bytes", True),
        ("parts/head/saved_formula", True),
        ("peak/1", True),
        ("moments/loss/3/amount", True),
        ("parts/head/flops_forward", False),
        ("parts/head/flops_formula", False),
        ("parts/head/cached", False),
        ("moments/loss/3/name", False),
        ("parts", False),
    ],
)
def test_a_reason_excuses_only_what_is_kept(path: str, excused: bool) -> None:
    found = Difference(f"costs/costs gpt2/{path}", "1 → 2")
    left, reasons = mended([found], AUTOCAST)
    assert left == ([] if excused else [found]) and sum(reasons.values()) == excused
    plain = {"costs gpt2": (PRESETS["gpt2"](), {})}
    assert mended([found], plain)[0] == [found]
