from __future__ import annotations

from pathlib import Path

import pytest

import small_classifier
import small_recogniser
import small_writer
from glassformer.errors import FileError
from glassformer.runs import locked
from glassformer.textbook.run import RunChapter
from small_translator import trained


def test_a_translator(tmp_path: Path) -> None:
    chapter = RunChapter(trained(tmp_path))
    assert not chapter.running
    assert chapter.status("ko")["상태"] == "끝남" and chapter.status("en")["state"] == "finished"
    looked = chapter.looked
    assert looked is None or (looked.kind == "cross_attention" and len(looked.weights) == len(looked.rows))
    assert chapter.confused is None


def test_a_classifier(tmp_path: Path) -> None:
    chapter = RunChapter(small_classifier.trained(tmp_path))
    confused = chapter.confused
    assert confused is not None and len(confused.counts) == len(confused.labels)
    assert sum(map(sum, confused.counts)) > 0
    assert not (chapter.run.folder / "evaluations.jsonl").exists()  # looking is no reading of a score


def test_a_recogniser_of_images(tmp_path: Path) -> None:
    chapter = RunChapter(small_recogniser.trained(tmp_path))
    assert chapter.confused is not None and chapter.looked is None


def test_a_language_model_looks_within_its_text(tmp_path: Path) -> None:
    chapter = RunChapter(small_writer.trained(tmp_path))
    if chapter.sampled[1]:
        looked = chapter.looked
        assert looked is not None and looked.kind == "self_attention" and looked.rows == looked.columns
        assert sum(looked.weights[0]) == pytest.approx(1.0, abs=1e-4)


def test_a_run_goes_on_while_its_process_holds_the_lock(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    run = RunChapter(folder).run
    run.write_status({**run.status, "state": "running"})
    assert not RunChapter(folder).running  # it was killed
    with locked(folder):
        chapter = RunChapter(folder)
        assert chapter.running and chapter.loaded is None


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not a run"):
        RunChapter(tmp_path)
