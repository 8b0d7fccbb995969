from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassformer.cli.app import main
from glassformer.lessons import record
from glassformer.lessons.record import LessonResult, measure, own, recorded, setup_of
from typed import typed

NAME = "scaled_scores"


@pytest.fixture(scope="module")
def result() -> LessonResult:
    return measure(NAME, setup_of(NAME))


@pytest.fixture(autouse=True)
def _place(result: LessonResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose recorded result is of the code as it stands: it need not be measured again."""
    result.write(tmp_path / "recorded")
    monkeypatch.setattr(record, "RECORDED", tmp_path / "recorded")
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))


run = typed("lesson")


@pytest.mark.slow
def test_text_verdict_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, NAME)
    assert code == 0
    found = recorded(NAME)
    assert found is not None
    variance = f"{found.data['last']['plain']['variance']['mean']:.0f}"  # without the division, at the largest d_k
    for part in ("Why the scores are divided", "softmax(Q Kᵀ / √d_k) V", "confirmed", variance, "kernel.py", "§3.2.1"):
        assert part in out, part
    assert "glassformer lesson scaled_scores --fresh" in out
    assert (tmp_path / "cache" / "pictures" / f"{NAME}.en.svg").is_file()


@pytest.mark.slow
def test_the_deep_text_in_korean_with_a_picture_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "picture.png"
    code, out, _ = run(capsys, NAME, "--depth", "deep", "--lang", "ko", "--picture", picture)
    assert code == 0 and "확인됨" in out and picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_measured_again(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, NAME, "--fresh")
    assert code == 0 and "measuring: Why the scores" in err
    assert (own() / f"{NAME}.json").is_file()


@pytest.mark.slow
def test_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, NAME, "--json", "--fresh")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["verdicts"][0]["verdict"] == "confirmed" and Path(found["picture"]).is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scaled_score"], "there is no lesson 'scaled_score'; did you mean scaled_scores"),
        ([NAME, "--depth", "deeper"], "easy, deep"),
        ([NAME, "--picture", "picture.jpg"], "picture.jpg is neither .svg nor .png"),
    ],
)
def test_wrong_use(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


@pytest.mark.slow
def test_without_a_font_for_hangul_one_line_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("glassformer.fonts", "glassformer.show.theme"):
        monkeypatch.setattr(f"{place}.hangul_font", lambda: None)
    with pytest.raises(SystemExit) as stop:
        main(["lesson", "scaled_scores", "--lang", "ko"])
    _, err = capsys.readouterr()
    assert not stop.value.code and err.count("\n") == 1 and "ko-fonts" in err


@pytest.mark.slow
def test_where_no_file_can_be_written_there_is_still_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "file"))
    code, out, err = run(capsys, NAME)
    assert code == 1 and "Why the scores are divided" in out and "cannot be written" in err
