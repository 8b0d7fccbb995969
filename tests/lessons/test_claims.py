from __future__ import annotations

import pytest
from markupsafe import escape

import glassformer as gf
from glassformer.words import LANGUAGES, say

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_claims_show_themselves_in_a_notebook(lang: str) -> None:
    found = gf.claims(lang=lang)
    page = found._repr_html_()
    assert page.count("<tr>") == len(found) + 1  # and the titles
    for answer in found:
        assert f"<td>{answer.id}</td>" in page and escape(answer.claim) in page and escape(answer.says) in page
        assert escape(say(f"verdicts.{answer.verdict}", lang)) in page
    assert escape(say("lesson.columns.measured", lang)) in page and str(len(found)) in found.summary()
    assert found[0].id in repr(found) and isinstance(found, list)


def test_a_single_claim_speaks_the_language_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    found = gf.claims("scale-variance", lang="ko")
    assert say("lesson.columns.claim", "ko") in repr(found) and say("lesson.columns.claim", "en") not in repr(found)
