from __future__ import annotations

import json
import re
from typing import Any

import pytest
import torch

import glassformer as gf
from glassformer.comparison.difference import AnswerDifference, Difference, Parting
from glassformer.comparison.report import MOST_ROWS, Comparison

HANGUL = re.compile(r"[가-힣]")
SHAPE = (1, 2, 3)


def difference(tap: str, relative: float) -> Difference:
    return Difference(tap, SHAPE, relative * 2.0, relative, (0, 1, 2), 2.0, 2.0 - 2.0 * relative)


def comparison(**keys: Any) -> Comparison:
    taps = (difference("embedding.output", 0.0), difference("encoder.blocks.0.output", 0.25), difference("head.x", 0.5))
    table = {"a": "one", "b": "two", "tolerance": 0.0, "matched": False, "inputs": (3, 9), "counts": (3, 3)}
    return Comparison(**{"taps": taps, **table, **keys})


SAME = (difference("embedding.output", 0.0), difference("head.logits", 0.0))
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"taps": SAME}, "identical at all 2 taps", "탭 2개 모두 완전히 같습니다"),
    ({}, "first difference: encoder.blocks.0.output (1×2×3); taps before it that agree: 1", "처음 달라지는 곳"),
    ({}, "largest at [0, 1, 2]: A 2, B 1.5; |Δ| 5.00e-01, relative", "가장 큰 차이의 위치"),
    ({"tolerance": 0.6}, "no tap differs by more than 0.6 (relative); of 3 taps the farthest", "가장 먼 곳: head.x"),
    ({"tolerance": 0.6, "matched": True}, "all 3 matched taps agree within 0.6 (relative)", "짝지은 탭 3개"),
    (
        {"taps": SAME, "parting": Parting(2, "x", "", (4,), ())},
        "taps that both have in one shape: 2, all identical",
        "탭 2개는 완전히",
    ),
    (
        {"parting": Parting(2, "x", "", (4,), ())},
        "the structures part at tap 3: A x (4), B nothing more",
        "3번째 탭에서",
    ),
    ({"answers": AnswerDifference(2, 18, (0, 1))}, "answers (argmax): 2 of 18 differ", "18개 중 2개가 다릅니다"),
    ({"answers": AnswerDifference(0, 18, None)}, "answers (argmax): all 18 are the same", "18개 모두 같습니다"),
]


@pytest.mark.parametrize(("keys", "english", "korean"), CASES)
def test_what_is_said(keys: dict[str, Any], english: str, korean: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for lang, words in (("en", english), ("ko", korean)):
        monkeypatch.setenv("GLASSFORMER_LANG", lang)
        found = comparison(**keys)
        html = found._repr_html_()
        assert words in " ".join(repr(found).split())
        assert words in html and bool(HANGUL.search(html)) is (lang == "ko")
        for tag in ("table", "tr", "td", "th", "p"):
            assert len(re.findall(rf"<{tag}(?: style=[^>]*)?>", html)) == html.count(f"</{tag}>")


def test_json_has_every_tap_and_the_verdict() -> None:
    found = comparison(parting=Parting(2, "x", "", (4,), ()), answers=AnswerDifference(1, 2, (0, 1)))
    document = json.loads(json.dumps(found.to_json()))
    assert [tap["tap"] for tap in document["taps"]] == [tap.tap for tap in found.taps]
    assert document["first"]["tap"] == "encoder.blocks.0.output" and document["first"]["at"] == [0, 1, 2]
    assert (document["identical"], document["same"], document["counts"]["compared"]) == (False, False, 3)
    assert document["parting"]["shape_a"] == [4] and document["answers"]["changed"] == 1
    assert comparison(taps=SAME).to_json()["first"] is None


def test_the_growth_is_a_screen_long_and_ends_at_the_end() -> None:
    blocks = [f"decoder.blocks.{i}.{tap}" for i in range(40) for tap in ("self_attention.q", "output")]
    taps = tuple(difference(name, 0.1) for name in [*blocks, "decoder.output", "head.logits"])
    rows = [each.tap for each in comparison(taps=taps).growth()]
    assert len(rows) == MOST_ROWS == len(set(rows))
    assert rows[0] == "decoder.blocks.0.self_attention.q" and rows[-1] == "head.logits"
    assert [name for name in blocks if name in rows] == rows[:-1]
    assert comparison(tolerance=1.0).growth() == []


def test_a_real_one_in_a_notebook_and_in_a_terminal() -> None:
    a, b = gf.build("small-encoder", seed=0), gf.build("small-encoder", seed=0)
    with torch.no_grad():
        b.get_parameter("encoder.blocks.1.feed_forward.w_1.bias")[3] += 1.0
    found = gf.compare(a, b)
    assert isinstance(found, gf.Comparison)
    for text in (repr(found), found._repr_html_()):
        assert "encoder.blocks.1.feed_forward.hidden" in text and "head.logits" in text and "max |Δ|" in text
