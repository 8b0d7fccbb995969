"""Decoding with keys and values in slots; recording it needs an accelerator, the slots do not."""

from __future__ import annotations

import pytest

from decoding import ENDS, FAMILIES, lively, sources
from glassformer.decoding import Beams, Limits, beam_search, captured, greedy


@pytest.fixture
def slotted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slots without an accelerator."""
    monkeypatch.setattr(captured, "may_be_slotted", lambda decoder, state: state.cache.length > 0)
    monkeypatch.setattr(captured, "_OF_MODEL", type(captured._OF_MODEL)())


@pytest.mark.parametrize("slots", [2, 5, 32])
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("position", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize("family", FAMILIES)
def test_beams_find_the_same(
    family: str, position: str, width: int, slots: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, (source, mask) = lively(family, position), sources()
    limits, beams = Limits(max_len=14, **ENDS), Beams(width=width)
    expected = beam_search(model, source, mask, limits=limits, beams=beams, n_best=width)
    lengths = {len(one.tokens) for best in expected for one in best}
    assert len(lengths) > 1 or family == "decoder"  # sentences leave at different steps
    request.getfixturevalue("slotted")
    monkeypatch.setattr(captured, "SLOTS", slots)
    for _ in range(2):  # the second time in slots that have been used
        found = beam_search(model, source, mask, limits=limits, beams=beams, n_best=width)
        assert [[one.tokens for one in best] for best in found] == [[one.tokens for one in best] for best in expected]
        for best, other in zip(expected, found, strict=True):
            assert [one.score for one in other] == pytest.approx([one.score for one in best], abs=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_finds_the_same(family: str, request: pytest.FixtureRequest) -> None:
    model, (source, mask) = lively(family), sources()
    limits = Limits(max_len=14, **ENDS)
    expected = greedy(model, source, mask, limits=limits)
    request.getfixturevalue("slotted")
    assert [one.tokens for (one,) in greedy(model, source, mask, limits=limits)] == [one.tokens for (one,) in expected]
