from __future__ import annotations

import json

import pytest

from glassformer.lessons.catalogue import LESSONS
from typed import typed

run = typed("lessons")


@pytest.mark.parametrize(("lang", "title"), [("en", "Who looks at whom"), ("ko", "누가 누구를 보는가")])
def test_the_lessons_by_chapter(lang: str, title: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--lang", lang)
    assert (code, err) == (0, "")
    assert title in out and "scale-variance" in out
    assert all(name in out for name in LESSONS)


def test_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--json", "--lang", "en")
    found = json.loads(out)
    assert code == 0 and [entry["name"] for entry in found] == list(LESSONS)
    assert set(found[0]) == {"name", "chapter", "title", "question", "claims", "command"}
