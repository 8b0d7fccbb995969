from __future__ import annotations

from pathlib import Path

import pytest

import glassformer as gf
from glassformer.textbook import verbs

pytestmark = pytest.mark.usefixtures("own_cache")


def test_a_lesson() -> None:
    lesson = gf.lesson("scaled_scores", lang="ko")
    assert lesson.verdicts["scale-variance"].verdict == "confirmed"
    assert lesson.data["keys"] == 64 and "variance" in lesson.text("deep", "en")
    assert len(lesson.figure().axes) == 6  # three curves over d_k, and the softmax at three of them


def test_a_lesson_measured_again() -> None:
    first, again = gf.lesson("scaled_scores"), gf.lesson("scaled_scores", fresh=True)
    assert again.data == first.data and not again.stale


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(gf.GlassformerError, match="there is no lesson 'scaled'"):
        gf.lesson("scaled")
    with pytest.raises(gf.GlassformerError, match="there is no claim 'x'"):
        gf.claims("x")
    with pytest.raises(gf.ConfigError, match="lang='de' is unknown"):
        gf.report(lang="de")


def test_claims() -> None:
    assert [answer.id for answer in gf.claims("scale-variance", lang="en")] == ["scale-variance"]
    assert "scale-variance" in [answer.id for answer in gf.claims()]


def test_a_report_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[verbs.Order] = []

    class Written:
        def __init__(self, order: verbs.Order) -> None:
            seen.append(order)

        def build(self) -> list[Path]:
            return [tmp_path]

    monkeypatch.setattr(verbs, "Report", Written)
    assert gf.report(gf.TrainedRun(tmp_path / "run"), out=tmp_path, lang="ko") == [tmp_path]
    gf.report("runs/first")
    assert [(order.run, tuple(order.langs)) for order in seen] == [
        (tmp_path / "run", ("ko",)),
        (Path("runs/first"), ("en", "ko")),
    ]
