from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from glassformer.errors import FileError
from glassformer.loading import open_recipe
from glassformer.runs import Run
from glassformer.tasks.classification.samples import ClassificationSamples, sample_guesses
from glassformer.tasks.classification.task import Classification
from glassformer.tasks.samples import Sample, read_samples
from glassformer.training.begin import begin
from glassformer.training.job import Training
from glassformer.training.loop import train
from small_classifier import REVIEWS, write_recipe
from tiny_tasks import tiny


@pytest.fixture
def job(tmp_path: Path) -> Training:
    return begin(open_recipe(write_recipe(tmp_path, steps=60)), tmp_path / "run")


def test_a_few_texts_with_what_they_are_and_what_they_are_taken_for(job: Training) -> None:
    for _ in train(job):
        pass
    found = read_samples(job.run, 60)
    assert found == [vars(Sample(text, label, label)) for text, label in REVIEWS[:8]]
    assert len(read_samples(job.run, 30)) == 8


def test_the_model_and_what_is_drawn_stay_as_they_are(job: Training) -> None:
    assert isinstance(job.show, ClassificationSamples)
    random, before = torch.random.get_rng_state(), {k: v.clone() for k, v in job.model.state_dict().items()}
    assert job.show(job.model, 3) == {}
    assert torch.equal(torch.random.get_rng_state(), random)
    assert all(torch.equal(value, before[name]) for name, value in job.model.state_dict().items())


def test_a_folder_that_cannot_be_written_is_one_line(job: Training) -> None:
    assert job.show is not None
    job.run.samples.rmdir()
    job.run.samples.write_text("a file", encoding="utf-8")
    with pytest.raises(FileError, match=r"samples cannot be written: File exists"):
        job.show(job.model, 1)


def test_a_classifier_shows_some_of_what_it_is_validated_on(tmp_path: Path) -> None:
    material = Classification.begin(tiny("classification"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    measure = sample_guesses(run, material)
    assert isinstance(measure, ClassificationSamples) and len(measure.texts) == len(measure.examples) == 8
    assert sample_guesses(run, replace(material, validation=None)) is None
