from __future__ import annotations

from pathlib import Path

import pytest
import torch

import small_recogniser
import tiny_runs
from glassformer.ledger.devices import DEVICES
from glassformer.textbook.predicted import PredictedRow, card, full_batch, is_of_this_machine
from glassformer.textbook.run import RunChapter
from glassformer.training.room import needed
from small_translator import trained


def test_an_error_is_a_share_of_what_was_measured() -> None:
    assert PredictedRow("tokens", 150, 100).error == pytest.approx(0.5)
    assert (
        PredictedRow("tokens", None, 100).error
        is PredictedRow("tokens", 1, None).error
        is PredictedRow("tokens", 1, 0).error
        is None
    )


def test_a_full_batch_is_what_the_recipe_allows(tmp_path: Path) -> None:
    config = RunChapter(trained(tmp_path)).run.config
    job = full_batch(config)
    assert job.batch * (job.length or 0) <= config.train.batch_tokens < (job.batch + 1) * (job.length or 0)


@pytest.mark.slow
def test_flops_are_exact_and_memory_is_close(tmp_path: Path) -> None:
    chapter = RunChapter(trained(tmp_path))
    found = card(chapter, DEVICES["h100"])
    assert found is not None
    rows = {row.name: row for row in found.rows}
    assert rows["flops"].error == 0
    assert rows["memory"].error == pytest.approx(0, abs=0.2)
    log = [record for record in chapter.records if record["kind"] == "train"]
    assert rows["tokens"].measured == log[-1]["tokens"] and rows["seconds"].measured == log[-1]["elapsed"]
    assert rows["seconds"].predicted is not None and rows["seconds"].predicted > 0


def test_of_a_run_on_an_accelerator_the_memory_is_its_own(tmp_path: Path) -> None:
    chapter = RunChapter(trained(tmp_path))
    chapter.run.write_status({**chapter.run.status, "peak_memory": 10**9})
    found = card(chapter, DEVICES["h100"])
    assert found is not None
    row = {row.name: row for row in found.rows}["memory"]
    assert (row.predicted, row.measured) == (needed(chapter.run.config, torch.device("cuda")), 10**9)


def test_of_images_examples_are_counted(tmp_path: Path) -> None:
    found = card(RunChapter(small_recogniser.trained(tmp_path)), DEVICES["h100"])
    assert found is not None and "examples" in [row.name for row in found.rows]


@pytest.mark.slow
def test_a_run_of_another_machine_has_no_predicted_time(tmp_path: Path) -> None:
    chapter = RunChapter(trained(tmp_path))
    chapter.run.write_environment({**chapter.run.environment, "device": "another"})
    assert not is_of_this_machine(chapter)
    found = card(chapter)
    assert found is not None and {row.name: row.predicted for row in found.rows}["seconds"] is None


def test_of_series_values_are_counted_on_both_sides(tmp_path: Path) -> None:
    found = card(RunChapter(tiny_runs.trained("forecasting", tmp_path)), DEVICES["h100"])
    assert found is not None
    rows = {row.name: row for row in found.rows}
    assert "examples" not in rows
    assert rows["values"].measured and rows["values"].error == pytest.approx(0, abs=0.1)


@pytest.mark.many
@pytest.mark.parametrize("kind", tiny_runs.KINDS)
def test_what_is_counted_is_what_the_log_counts(kind: str, tmp_path: Path) -> None:
    found = card(RunChapter(tiny_runs.trained(kind, tmp_path)), DEVICES["h100"])
    rows = {} if found is None else {row.name: row for row in found.rows}
    for name in {"tokens", "examples", "values"} & set(rows):
        assert rows[name].measured and rows[name].predicted
        assert 0.9 < rows[name].predicted / rows[name].measured < 3, (name, rows[name])  # batches are rarely full
