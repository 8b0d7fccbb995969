from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.values import Choice
from glassformer.errors import ConfigError, FileError, GlassformerWarning
from glassformer.loading import open_recipe
from glassformer.runs import Run, locked
from glassformer.tasks.translation import task as translation
from glassformer.tasks.translation.samples import TranslationSamples
from glassformer.training import events
from glassformer.training.begin import again, begin
from glassformer.training.watch import train_watched
from tiny_translator import CHANGES, tiny, trained


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return begin(tiny(), tmp_path_factory.mktemp("begin") / "run").run


def test_a_new_run_has_its_vocabulary_and_the_size_it_turned_out_to_have(run: Run) -> None:
    assert (run.tokenizer / "tokenizer.json").is_file()
    assert run.config.model.vocab_size <= 450
    assert run.config.data.source == Choice("grammar", {"level": "small", "count": 120, "test": 0})


def test_the_same_again_from_the_folder(run: Run, tmp_path: Path) -> None:
    new, resumed = begin(tiny(), tmp_path / "run"), again(run.folder)
    assert new.training.fingerprint == resumed.training.fingerprint
    assert new.recipe == resumed.recipe
    assert isinstance(new.measure, TranslationSamples)
    assert isinstance(resumed.measure, TranslationSamples)
    assert new.measure.pairs == resumed.measure.pairs


def test_sentences_that_are_too_long_are_no_samples(tmp_path: Path) -> None:
    job = begin(open_recipe("ko-en", CHANGES | {"data.max_length": 14}), tmp_path / "run")
    assert job.validation is not None
    assert 0 < len(job.validation) < 12
    assert isinstance(job.measure, TranslationSamples)
    assert len(job.measure.pairs) == len(job.validation)


@pytest.mark.slow
def test_without_validation_sentences_there_is_no_evaluation(tmp_path: Path) -> None:
    job = begin(open_recipe("ko-en", CHANGES | {"data.validation": 0}), tmp_path / "run")
    assert (job.validation, job.measure) == (None, None)
    happened = list(train_watched(job))
    assert not [event for event in happened if isinstance(event, events.Evaluated)]
    assert happened[-1] == events.Stopped(6, "finished")


# --- refused, before anything is read ---


@pytest.fixture
def _unread(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(config: object) -> None:
        raise AssertionError("the sentences were read")

    monkeypatch.setattr(translation, "pair_corpus", read)


@pytest.mark.usefixtures("_unread")
def test_a_folder_that_holds_a_run(run: Run) -> None:
    with pytest.raises(FileError, match=r"holds a run already; continue it with --resume"):
        begin(tiny(), run.folder)


@pytest.mark.usefixtures("_unread")
def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FileError, match=r"file/run cannot be written: (Not a directory|File exists)"):
        begin(tiny(), tmp_path / "file" / "run")


@pytest.mark.usefixtures("_unread")
def test_a_folder_in_use(run: Run) -> None:
    with locked(run.folder), pytest.raises(FileError, match="is in use: another process trains there"):
        again(run.folder)


def test_nothing_is_left_where_reading_failed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the built-in corpus is Korean and English"):
        begin(open_recipe("ko-en", {"data.target_language": "de"}), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


# --- what may change in a run that was begun ---


def test_what_stands_there_may_be_said_again(run: Run) -> None:
    before = (run.folder / "config.toml").read_bytes()
    again(run.folder, CHANGES)
    assert (run.folder / "config.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value"),
    [("model.d_model", 32), ("train.batch_tokens", 256), ("data.source.count", 99), ("text.vocab_size", 451)],
)
def test_anything_else_would_be_another_run(key: str, value: int, run: Run) -> None:
    line = f"{key}={value} is not what {run.folder} was begun with; only train.steps may grow"
    with pytest.raises(ConfigError, match=re.escape(line)):
        again(run.folder, {key: value})


def test_how_ranks_share_a_step_may_change(run: Run) -> None:
    job = again(run.folder, {"train.parallel": "fsdp"})
    assert job.recipe == replace(run.config, train=replace(run.config.train, parallel="fsdp"))
    assert Run.open(run.folder).config == job.recipe


def test_fewer_steps_are_refused(run: Run) -> None:
    with pytest.raises(ConfigError, match=r"train\.steps=5 is less than the 6 steps that this run was begun with"):
        again(run.folder, {"train.steps": 5})


def epochs(**keys: Any) -> RunConfig:
    """Batches of at most 8 sentences of 40: at least 5 in an epoch."""
    config = tiny(max_sentences=8, **keys)
    return replace(config, data=replace(config.data, limit=40))


def test_epochs_become_steps_when_a_run_begins(tmp_path: Path) -> None:
    run = begin(epochs(epochs=4, pool=1, batch_tokens=4096), tmp_path / "run").run
    assert (run.config.train.steps, run.config.train.epochs) == (20, 4)
    accumulated = begin(epochs(epochs=3, pool=1, batch_tokens=4096, accumulate=2), tmp_path / "accumulated").run
    assert accumulated.config.train.steps == 8  # 15 batches, two in a step
    assert again(run.folder, {"train.epochs": 4}).recipe == run.config  # the same command again
    with pytest.raises(ConfigError, match=r"train\.epochs=5 is not what .* was begun with"):
        again(run.folder, {"train.epochs": 5})
    grown = again(run.folder, {"train.steps": 30}).recipe.train
    assert (grown.steps, grown.epochs) == (30, None)


def test_of_steps_and_epochs_the_last_one_counts() -> None:
    assert open_recipe("budget-3100").train.epochs == 20
    assert open_recipe("budget-3100", {"train.steps": 5}).train.epochs is None
    both = open_recipe("ko-en", {"train.steps": 5, "epochs": 2}).train
    assert (both.steps, both.epochs) == (TrainConfig().steps, 2)


def test_a_warm_up_beyond_the_steps_of_all_epochs_is_said(tmp_path: Path) -> None:
    with pytest.warns(GlassformerWarning, match="warmup=500 is more than steps=20"):
        begin(epochs(epochs=4, pool=1, batch_tokens=4096, warmup=500), tmp_path / "run")


def test_the_choice_to_compile_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an accelerator a short run is not compiled, nor one that finds no compiler; it stays so when it grows."""
    monkeypatch.setattr("glassformer.training.begin.choose_device", lambda name: torch.device("cuda"))
    monkeypatch.setattr("glassformer.training.compile.missing_compiler", lambda device: None)
    run = begin(tiny(), tmp_path / "run").run
    assert run.config.train.compile is False
    grown = again(run.folder, {"train.steps": 10**9})
    assert grown.recipe.train.compile is False
    assert begin(tiny(steps=10**9), tmp_path / "long").run.config.train.compile is True
    monkeypatch.setattr("glassformer.training.compile.missing_compiler", lambda device: "Triton")
    with pytest.warns(GlassformerWarning, match="Triton"):
        assert begin(tiny(steps=10**9), tmp_path / "plain").run.config.train.compile is False


def test_a_run_that_was_begun_without_a_choice_makes_it_by_the_steps_it_had(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(run.folder, tmp_path / "run")
    assert Run.open(copy).config.train.compile is None
    monkeypatch.setattr("glassformer.training.begin.choose_device", lambda name: torch.device("cuda"))
    assert again(copy, {"train.steps": 10**9}).recipe.train.compile is False


@pytest.mark.slow
def test_more_steps_are_trained_and_written_down(tmp_path: Path) -> None:
    run, _ = trained(tmp_path / "run", tiny())
    job = again(run.folder, {"train.steps": 9})
    happened = list(train_watched(job, resume=True))
    assert happened[-1] == events.Stopped(9, "finished")
    assert again(run.folder).recipe.train.steps == 9
    assert [line["step"] for line in run.log.read() if line["kind"] == "evaluation"] == [3, 6, 9]
