from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from explorer_client import INPUTS, client, tiny_run
from glassformer.explorer import time_limit
from glassformer.explorer.time_limit import Overtime, limited
from glassformer.words import LANGUAGES, say

GIVEN = {"model": "tiny-translation", "input": INPUTS["translation"]}
NUMBER = {"name": "encoder.blocks.0.self_attention.weights", "index": [0, 0, 0]}
PASSES: dict[str, dict[str, Any]] = {
    "/api/trace": GIVEN,
    "/api/sweep": GIVEN,
    "/api/rewritten": GIVEN,
    "/api/lens": GIVEN,
    "/api/gradients": GIVEN,
    "/api/why": GIVEN | NUMBER,
    "/api/snippet": GIVEN | NUMBER,
    "/api/compare": {"a": GIVEN, "b": GIVEN | {"position": "none"}},
    "/api/decode": GIVEN | {"kind": "beam"},
    "/api/export": GIVEN,
}


class Clock:
    """Every look at it is a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("path", PASSES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_request_that_computes_for_too_long_is_ended_and_the_next_is_answered(
    path: str, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, body = client(tiny_run("translation")), PASSES[path]
    assert asked.post(path, json=body).status_code == 200
    monkeypatch.setattr(time_limit, "monotonic", Clock())
    monkeypatch.setattr(time_limit, "LONGEST_PASS", 5.0)
    answer = asked.post(f"{path}?lang={lang}", json=body)
    assert answer.status_code == 503
    assert answer.json() == {"error": say("explorer_faults.overtime", lang), "kind": "overtime"}
    assert "retry-after" not in answer.headers  # it would take as long again
    monkeypatch.undo()
    assert asked.post(path, json=body).status_code == 200


def test_a_pass_is_ended_between_two_boxes_and_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = nn.Sequential(*(nn.Identity() for _ in range(10)))
    begun = []
    for box in boxes:
        box.register_forward_hook(lambda *_: begun.append(1))
    monkeypatch.setattr(time_limit, "monotonic", Clock())
    monkeypatch.setattr(time_limit, "LONGEST_PASS", 5.0)  # the whole looks at the clock too
    with pytest.raises(Overtime), limited(boxes):
        boxes(1)
    assert len(begun) == 4
    boxes(1)
    assert len(begun) == 14
