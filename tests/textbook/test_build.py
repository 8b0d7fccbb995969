from __future__ import annotations

from pathlib import Path

import pytest

from drawn_book import drawn_before
from glassformer.errors import FileError
from glassformer.lessons.catalogue import LESSONS
from glassformer.runs import Run, locked
from glassformer.textbook import pictures
from glassformer.textbook.build import Order, Report
from glassformer.textbook.pictures import FEW
from small_translator import trained

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.slow
def test_it_can_be_read_before_it_is_finished(tmp_path: Path, own_cache: Path) -> None:
    drawn_before(own_cache, "ko")
    seen: list[str] = []
    drawn: list[str] = []

    def readable(paths: list[Path]) -> None:
        seen.extend(path.read_text(encoding="utf-8") for path in paths)

    report = Report(Order(tmp_path / "out", ("ko",), workers=2))
    every = report.books[0].pictures
    missing = list(every)[::13]
    for name in missing:
        every[name].file.with_suffix(".svg").unlink()
    paths = report.build(lambda name, share: drawn.append(name), readable)
    assert [path.name for path in paths] == ["report.ko.html", "report.ko.md"]
    assert len(seen) == 1 and "<figure>" in seen[0] and "그림을 그리는 중" in seen[0] and 'data-reload="8"' in seen[0]
    finished = paths[0].read_text(encoding="utf-8")
    assert "그림을 그리는 중" not in finished and 'data-reload="0"' in finished
    assert finished.count('role="img"') == len(every) and set(every) <= set(LESSONS)
    assert sorted(drawn) == sorted(missing) and len(missing) > FEW
    assert [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_a_page_does_not_wait_for_pictures_that_nobody_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*order: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pictures, "draw", stopped)
    with pytest.raises(KeyboardInterrupt):
        Report(Order(tmp_path / "out", ("en",))).build()
    page = (tmp_path / "out" / "report.en.html").read_text(encoding="utf-8")
    assert 'data-reload="0"' in page and "The picture is being drawn" not in page


@pytest.mark.slow
def test_with_the_chapter_of_a_run(tmp_path: Path, own_cache: Path) -> None:
    drawn_before(own_cache, "en")
    report = Report(Order(tmp_path / "out", ("en",), run=trained(tmp_path)))
    html, markdown = report.build()
    text = html.read_text(encoding="utf-8")
    assert 'id="run"' in text and 'id="run-training_dashboard"' in text and 'id="predicted"' in text
    for name in ("loss_curves", "learning_rate", "training_dashboard"):
        assert (tmp_path / "out" / "pictures" / "en" / f"{name}.png").is_file()
        assert f"pictures/en/{name}.png" in markdown.read_text(encoding="utf-8")
    before = html.read_bytes()
    assert report.refresh() is False
    assert len(html.read_bytes()) == pytest.approx(len(before), rel=0.01)


@pytest.mark.slow
def test_what_was_predicted_is_shown_when_the_run_has_ended(tmp_path: Path, own_cache: Path) -> None:
    drawn_before(own_cache, "en")
    folder = trained(tmp_path)
    run = Run.open(folder)
    ended = run.status
    run.write_status({**ended, "state": "running"})
    report = Report(Order(tmp_path / "out", ("en",), run=folder))
    with locked(folder):
        html = report.build()[0]
        going = html.read_text(encoding="utf-8")
        assert report.refresh() is True
    assert 'data-reload="8"' in going and 'id="predicted"' not in going
    run.write_status(ended)
    assert report.refresh() is False
    assert 'id="predicted"' in html.read_text(encoding="utf-8")


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not a run"):
        Report(Order(tmp_path / "out", run=tmp_path))


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot be written"):
        Report(Order(tmp_path / "file" / "out")).build()
