from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny_tasks
from glassformer.data.pairs import Pairs
from glassformer.errors import FileError
from glassformer.metrics.translation import Outputs, bleu
from glassformer.runs import Run
from glassformer.tasks.samples import Sample, attention_file, read_samples, samples_file
from glassformer.tasks.search import GREEDY
from glassformer.tasks.translation.samples import TranslationSamples, chosen, sample_translations
from glassformer.tasks.translation.task import Translation
from glassformer.tasks.translation.translate import candidates
from glassformer.trace.trace import Trace
from glassformer.training.begin import begin
from glassformer.training.job import Training
from tiny_translator import tiny

NUMBERS = Pairs([str(i) for i in range(100)], [str(-i) for i in range(100)])


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Training:
    made = begin(tiny(), tmp_path_factory.mktemp("samples") / "run")
    made.model.eval()
    return made


def samples_of(job: Training) -> TranslationSamples:
    assert isinstance(job.measure, TranslationSamples)
    return job.measure


def test_the_first_are_shown_and_the_others_spread_over_the_rest() -> None:
    pairs = chosen(NUMBERS, np.ones(100, dtype=bool))
    assert len(pairs) == 50
    assert pairs.sources[:8] == [str(i) for i in range(8)]
    assert (pairs.sources[8], pairs.sources[-1]) == ("8", "99")
    assert len(set(pairs.sources)) == 50


@pytest.mark.parametrize("count", [0, 1, 8, 9, 50])
def test_few_sentences_are_all_taken(count: int) -> None:
    fits = np.arange(100) < count
    assert chosen(NUMBERS, fits).sources == NUMBERS.sources[:count]


def test_what_does_not_fit_is_no_sample() -> None:
    assert chosen(NUMBERS, np.arange(100) % 2 == 1).sources[:3] == ["1", "3", "5"]


def test_the_file_holds_what_the_model_says_and_the_score_is_of_all(job: Training) -> None:
    samples = samples_of(job)
    metrics = samples(job.model, 7)
    said = [best.text for best, *_ in candidates(job.model, samples.vocabularies, samples.pairs.sources, GREEDY)]
    expected = bleu(Outputs(said, samples.pairs.targets), resamples=0).value
    assert metrics == {"sample_bleu": expected, "exact": 0.0}
    rows = json.loads(samples_file(job.run, 7).read_text(encoding="utf-8"))
    assert samples_file(job.run, 7).name == "step-00000007.json"
    assert len(samples.pairs) == 12
    assert [row["translation"] for row in rows] == said[:8]
    assert [row["source"] for row in rows] == samples.pairs.sources[:8]
    first = Sample(samples.pairs.sources[0], samples.pairs.targets[0], said[0])
    assert read_samples(job.run, 7)[0] == vars(first)


def test_bleu_says_nothing_where_no_reference_has_four_words(job: Training) -> None:
    samples = samples_of(job)
    short = replace(samples, pairs=Pairs(samples.pairs.sources, ["a b c"] * len(samples.pairs)))
    assert math.isnan(short(job.model, 8)["sample_bleu"])
    targets = ["a b c", "a b c d"] * (len(samples.pairs) // 2)
    some_long = replace(samples, pairs=Pairs(samples.pairs.sources, targets))
    said = [best.text for best, *_ in candidates(job.model, samples.vocabularies, samples.pairs.sources, GREEDY)]
    assert some_long(job.model, 9)["sample_bleu"] == bleu(Outputs(said, targets), resamples=0).value


def test_where_nothing_was_evaluated_there_is_nothing_to_read(job: Training) -> None:
    assert read_samples(job.run, 12345) == []


def test_the_attention_is_from_each_token_said_to_the_source(job: Training) -> None:
    samples = samples_of(job)
    samples(job.model, 8)
    trace = Trace.open(attention_file(job.run, 8))
    assert trace.names() == ["decoder.blocks.0.cross_attention.weights"]
    (weights,) = trace.attention("cross_attention")
    batch, heads, said, read = weights.shape
    assert (batch, heads, said + read) == (1, 2, len(trace.tokens))
    assert read == len(samples.vocabularies.source.encode(samples.pairs.sources[0])) + 1
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, said))


def test_a_translation_longer_than_the_table_of_positions_is_cut(job: Training) -> None:
    samples = samples_of(job)
    endless = Sample(samples.pairs.sources[0], "", "word " * 500)
    (weights,) = samples.attention(job.model, endless).attention("cross_attention")
    assert weights.shape[2] == job.recipe.model.max_len


def test_the_model_and_what_is_drawn_stay_as_they_are(job: Training) -> None:
    before = {name: value.clone() for name, value in job.model.state_dict().items()}
    random = torch.random.get_rng_state()
    with torch.no_grad():
        first = samples_of(job)(job.model, 9)
    assert first == samples_of(job)(job.model, 9)
    assert torch.equal(torch.random.get_rng_state(), random)
    assert all(torch.equal(value, before[name]) for name, value in job.model.state_dict().items())


def test_a_folder_that_cannot_be_written_is_one_line(job: Training, tmp_path: Path) -> None:
    (tmp_path / "samples").write_text("a file", encoding="utf-8")
    (tmp_path / "config.toml").write_text(job.run.config.to_toml(), encoding="utf-8")
    samples = TranslationSamples(type(job.run)(tmp_path), samples_of(job).vocabularies, samples_of(job).pairs)
    with pytest.raises(FileError, match=r"samples cannot be written: File exists"):
        samples(job.model, 1)


def test_a_translator_translates_some_of_what_it_is_validated_on(tmp_path: Path) -> None:
    material = Translation.begin(tiny_tasks.tiny("translation"))
    run = Run.create(tmp_path / "run", material.config, fill=material.fill)
    measure = sample_translations(run, material)
    assert isinstance(measure, TranslationSamples) and len(measure.pairs) == 10
    nothing = replace(material, validation_texts=material.validation_texts.chosen([]))
    assert sample_translations(run, nothing) is None
