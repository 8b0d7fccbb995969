from __future__ import annotations

from dataclasses import replace

import pytest

from glassformer.lessons.index import claims
from glassformer.lessons.lesson_results import FEW, NUMBER, LessonResults, beginning, in_line, says, source, unfilled
from glassformer.lessons.record import RECORDED, LessonResult, own
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import HOLE
from glassformer.lessons.verdict import Verdict
from glassformer.words import LANGUAGES, say

NAME, CLAIM = "scaled_scores", "scale-variance"


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def result() -> LessonResult:
    return LessonResult.read(RECORDED / f"{NAME}.json")


def with_variance(result: LessonResult, plain: float, scaled: float, spread: float = 0.0) -> LessonResult:
    """The same measurement with other variances at every width but the first."""
    rows = [
        {
            **row,
            "plain": {**row["plain"], "variance": interval([plain * row["d_k"]] * 2)},
            "scaled": {**row["scaled"], "variance": interval([scaled, scaled + spread])},
        }
        for row in result.data["rows"]
    ]
    rows[0] |= {"plain": result.data["rows"][0]["plain"], "scaled": result.data["rows"][0]["scaled"]}
    return replace(result, data={**result.data, "rows": rows})


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_claim_with_its_verdict_in_words(lang: str) -> None:
    answer = LessonResults().answer(CLAIM, lang)
    assert answer is not None
    assert answer.verdict == "confirmed" and answer.condition is None
    assert not HOLE.search(answer.says) and str(answer.measured["d_k"]) in answer.says
    assert answer.command == f"glassformer claims {CLAIM} --fresh"
    assert in_line(answer, CLAIM, lang).startswith(f"{answer.claim} **{say('verdicts.confirmed', lang)}**: ")


def test_the_document_for_programs() -> None:
    answer = LessonResults().answer(CLAIM, "en")
    assert answer is not None
    found = answer.to_json()
    assert list(found)[:4] == ["id", "claim", "verdict", "measured"]
    assert {"condition", "command", "lesson", "says", "stale", "source"} <= set(found)
    assert set(found["source"]) == {"command", "commit", "versions", "machine", "seeds", "seconds", "fingerprint"}


def test_another_measurement_is_another_verdict(result: LessonResult) -> None:
    for plain, scaled, spread, verdict in (
        (1.0, 1.0, 0.0, "confirmed"),
        (1.0, 3.0, 0.0, "depends"),
        (1.0, 1.0, 3.0, "undecided"),
    ):
        answer = LessonResults({NAME: with_variance(result, plain, scaled, spread)}).answer(CLAIM, "en")
        assert answer is not None and answer.verdict == verdict
        assert (answer.condition is not None) == (verdict == "depends")
        assert ("Confirmed: 4. Refuted: –. Undecided: 8, 16" in answer.says) == (verdict == "undecided")


def test_open_sides_are_named_in_words() -> None:
    found = Verdict.of({"post/loss": "confirmed", "pre/loss": "undecided"}, {})
    assert says("Told.", found, "en") == "Told. Confirmed: post-norm loss. Refuted: –. Undecided: pre-norm loss."
    assert says("쟀습니다.", found, "ko").endswith("판정 보류: 사전 정규화 손실.")
    assert says("Told.", Verdict.of({"pre": "confirmed", "post": "refuted"}, {}), "en") == "Told."


def test_what_other_code_measured_is_stale(result: LessonResult) -> None:
    assert not LessonResults({NAME: replace(result, fingerprint=result.fingerprint)}).stale(NAME) or result.stale
    results = LessonResults({NAME: replace(result, fingerprint="another")})
    answer = results.answer(CLAIM, "en")
    assert results.stale(NAME) and answer is not None and answer.stale


def test_what_this_code_cannot_read_is_not_measured(result: LessonResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.lessons.lesson_results.recorded", lambda name: replace(result, data={"other": 1}))
    results = LessonResults()
    assert results.result(NAME) is None and not results.stale(NAME)
    assert results.answer(CLAIM, "en") is None
    assert "glassformer claims scale-variance --fresh" in in_line(None, CLAIM, "en")


def test_what_stands_in_other_texts() -> None:
    results = LessonResults()
    assert results.insert("en", NAME, f"{{{{{NAME}:last.d_k}}}}") == "512"
    assert results.insert("en", NAME, f"{{{{{NAME}:last.nothing|.2f}}}}") == "–"
    assert results.insert("en", "no_such_lesson", "{{no_such_lesson:x}}") == "–"
    assert "**confirmed**" in results.insert("en", "claim", f"{{{{claim:{CLAIM}}}}}")
    assert "not measured yet" in results.insert("en", "claim", "{{claim:no-such-claim}}")


@pytest.mark.slow
def test_every_claim_that_was_measured() -> None:
    found = LessonResults().answers("ko")
    assert [answer.id for answer in found] == [claim for claim in claims() if LessonResults().answer(claim, "ko")]
    assert CLAIM in [answer.id for answer in found]


def test_an_own_result_is_taken(result: LessonResult) -> None:
    changed = replace(result, seconds=1234.5)
    changed.write(own())
    found = LessonResults().result(NAME)
    assert found is not None and (found.seconds == 1234.5 or result.stale)
    assert source(changed)["seconds"] == 1234.5


def test_without_numbers_a_text_has_dashes() -> None:
    assert unfilled("{{a.b|.2f}} of {{c}}") == "– of –"


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_claim_is_told_by_the_few_numbers_that_decide(lang: str) -> None:
    """What is read at once is short and has a number; all others are in what is folded; none is lost."""
    for answer in LessonResults().answers(lang):
        shown, folded = answer.decisive, " ".join(answer.further)
        at_once = NUMBER.findall(shown)
        assert at_once and len(shown) <= 330, answer.id
        assert len(at_once) <= FEW + 4, answer.id  # one clause is never cut
        every = set(NUMBER.findall(f"{answer.says} {answer.condition or ''}"))
        assert every == set(at_once) | set(NUMBER.findall(folded)), answer.id
        assert not folded or shown not in folded, answer.id


def test_where_a_text_is_folded() -> None:
    few = "It is 1.5 [1.2, 1.8]."
    assert beginning(few) == (few, "")
    assert beginning("It depends. " + few) == ("It depends. " + few, "")
    many = "Sizes 1, 2, 3, 4, 5, 6, 7; then 8.5 [8, 9] of 10. The rest: 11."
    assert beginning(many) == ("Sizes 1, 2, 3, 4, 5, 6, 7.", "Then 8.5 [8, 9] of 10. The rest: 11.")
    assert beginning("1, 2, 3, 4, 5, 6, 7입니다. 100장에서는 8, 9, 10입니다.")[1] == "100장에서는 8, 9, 10입니다."
    assert beginning("1, 2, 3, 4, 5, 6, 7입니다. mini에서는 8, 9, 10입니다.")[1] == "mini에서는 8, 9, 10입니다."
