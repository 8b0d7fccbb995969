from __future__ import annotations

import subprocess
import sys

import pytest

from glassformer.errors import UsageError
from glassformer.lessons.catalogue import CHAPTERS, LESSONS, lesson
from glassformer.lessons.index import chapters, claims, entries, lessons_of
from glassformer.words import LANGUAGES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_lesson_is_listed_in_the_order_of_reading(lang: str) -> None:
    found = entries(lang)
    assert [entry.name for entry in found] == list(LESSONS)
    assert all(entry.title and entry.question for entry in found)
    assert found[0].to_json()["command"] == f"glassformer lesson {found[0].name}"
    assert list(chapters(lang)) == [chapter for chapter, names in CHAPTERS.items() if names]


def test_the_words_know_the_same_claims_as_the_code() -> None:
    assert claims() == {claim: name for name in LESSONS for claim in lesson(name).claims}


def test_claims_and_their_lessons() -> None:
    assert lessons_of(["scale-variance", "scale-variance"]) == ["scaled_scores"]
    assert set(lessons_of([])) == set(claims().values())
    with pytest.raises(UsageError, match="there is no claim 'scale-varience'; did you mean scale-variance"):
        lessons_of(["scale-varience"])


def test_the_list_needs_no_torch() -> None:
    code = "import sys; from glassformer.lessons.index import entries; entries('ko'); assert 'torch' not in sys.modules"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
