from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.config.values import Choice
from glassformer.errors import ConfigError, FileError
from glassformer.losses import IGNORE, Sum
from glassformer.models.build import build
from glassformer.tasks.masked_language_model.task import MaskedLanguageModel
from glassformer.tasks.material import TextMaterial
from glassformer.training import events
from glassformer.training.sweep import Skipped, plan_trials, sweep
from glassformer.training.sweep_results import compare_trials
from tiny_tasks import tiny

NAME = "masked_language_model"


@pytest.fixture(scope="module")
def made() -> TextMaterial:
    return MaskedLanguageModel.begin(tiny(NAME))


def task_of(made: TextMaterial) -> MaskedLanguageModel:
    assert isinstance(made.task, MaskedLanguageModel)
    return made.task


def recipe(**task: Any) -> Any:
    return replace(tiny(NAME), task=Choice(NAME, task))


def test_a_batch_is_framed_and_asks_for_what_is_hidden(made: TextMaterial) -> None:
    task, examples = task_of(made), [made.training[i] for i in range(6)]
    batch = task.collate(examples, np.random.default_rng(0))
    special = made.vocabularies.source.specials
    assert (task.extra_tokens, batch.mask is None) == (2, False)
    assert (batch.tokens[:, 0] == special.cls).all() and (batch.targets[:, 0] == IGNORE).all()
    for row, (tokens,) in enumerate(examples):
        asked, read = batch.targets[row, 1 : len(tokens) + 1], batch.tokens[row, 1 : len(tokens) + 1]
        there = asked != IGNORE
        assert there.any() and (asked[there] == torch.from_numpy(tokens)[there]).all()
        assert (read[~there] == torch.from_numpy(tokens)[~there]).all()
        assert batch.tokens[row, len(tokens) + 1] == special.sep
        assert (batch.targets[row, len(tokens) + 1 :] == IGNORE).all()
        assert (batch.tokens[row, len(tokens) + 2 :] == special.pad).all()
    assert batch.count == int((batch.targets != IGNORE).sum())


def test_masks_are_drawn_anew_in_training_and_fixed_in_validation(made: TextMaterial) -> None:
    task, examples = task_of(made), [made.training[i] for i in range(6)]
    random = np.random.default_rng(0)
    first, second = task.collate(examples, random), task.collate(examples, random)
    assert not torch.equal(first.targets, second.targets)
    alone, together = task.collate(examples[:1]), task.collate(examples)
    width = len(examples[0][0]) + 2
    assert torch.equal(alone.targets[0, :width], together.targets[0, :width])
    assert torch.equal(alone.tokens[0, :width], together.tokens[0, :width])


def test_logits_of_the_hidden_places_alone_give_the_same_loss(made: TextMaterial) -> None:
    task, model = task_of(made), build(made.config.model, seed=0).double().eval()
    batch = task.collate([made.training[i] for i in range(6)])
    every = task.criterion(model(batch.tokens, batch.mask), batch.targets)
    for one in (task.loss(model, batch), replace(task, chunk=2).loss(model, batch), task.scores(model, batch)["loss"]):
        assert int(one.count) == int(every.count) == batch.count
        torch.testing.assert_close(one.total, every.total)


def test_chunks_give_the_same_gradients(made: TextMaterial) -> None:
    task, batch = task_of(made), task_of(made).collate([made.training[i] for i in range(6)])
    gradients = []
    for chunk in (0, 3):
        model = build(made.config.model, seed=0).double()
        replace(task, chunk=chunk).loss(model, batch).total.backward()
        gradients.append({name: x.grad for name, x in model.named_parameters()})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, msg=name)


def test_an_own_matrix_of_the_head_learns_too(made: TextMaterial) -> None:
    config = replace(made.config.model, tie_embeddings="none")
    task, model = replace(task_of(made), chunk=2), build(config, seed=0)
    task.loss(model, task.collate([made.training[0]])).total.backward()
    assert model.head.weight.grad is not None and model.head.weight.grad.abs().sum() > 0


def test_metrics_are_means_and_perplexity(made: TextMaterial) -> None:
    one, ten = torch.tensor(1.0), torch.tensor(10)
    found = task_of(made).metrics({"loss": Sum(one * 20, ten), "masked_accuracy": Sum(one * 5, ten)})
    assert found == pytest.approx({"loss": 2.0, "masked_accuracy": 0.5, "perplexity": np.exp(2.0)})


def test_a_text_that_is_too_long_is_cut_and_what_has_nothing_to_guess_left_out(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join([*(f"a b c d e f g h {i}" for i in range(20)), "zz yy"]) + "\n")
    source = Choice("files", {"train": str(path), "by_line": True})
    plain = tiny(NAME, text={"vocab_size": 15}, data={"max_length": 4, "validation": 0})
    made = MaskedLanguageModel.begin(replace(plain, data=replace(plain.data, source=source)))
    assert made.validation is None
    assert {int(length) for length in made.training.lengths[:, 0]} == {4}  # "a b c d", "e f g h"; i and zz are unknown
    assert len(made.training) == 40


def test_texts_of_blanks_alone_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "blank.txt"
    path.write_text(" \n\t\n")
    plain = tiny(NAME)
    source = Choice("files", {"train": str(path), "by_line": True})
    with pytest.raises(FileError, match="holds nothing but blanks"):
        MaskedLanguageModel.begin(replace(plain, data=replace(plain.data, source=source)))


def test_whole_words_come_from_the_recipe() -> None:
    changed = {"tokenizer": "bpe", "vocab_size": 300}
    made = MaskedLanguageModel.begin(replace(tiny(NAME, text=changed), task=Choice(NAME, {"whole_word": True})))
    masking = task_of(made).masking
    assert masking.whole_word and (masking.rate, masking.masked, masking.random) == (0.15, 0.8, 0.1)
    (tokens,) = made.training[0]
    assert 1 < len(set(masking.words(tokens))) < len(tokens)


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ({"rate": 0}, r"task\.rate=0 masks nothing, so there is nothing to learn"),
        ({"rate": 1.5}, r"rate"),
        ({"masked": 0.9, "random": 0.2}, r"task\.masked=0\.9 and task\.random=0\.2 are more than 1 together"),
        ({"whole_word": 1}, r"task\.whole_word=1"),
        ({"whole_words": True}, "whole_word"),
    ],
)
def test_options_that_make_no_sense_are_refused(task: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        MaskedLanguageModel.sketch(recipe(**task))


def test_everything_may_be_masked() -> None:
    assert MaskedLanguageModel.sketch(recipe(rate=1, masked=1, random=0)).model.vocab_size == 120


def test_another_family_or_head_is_refused(made: TextMaterial) -> None:
    decoder = tiny(NAME, model={"family": "decoder", "n_encoder_layers": 0, "n_decoder_layers": 1})
    with pytest.raises(ConfigError, match="'masked_language_model' needs a model of family='encoder'"):
        MaskedLanguageModel.sketch(decoder)
    classifier = tiny(NAME, model={"head": {"kind": "classifier", "classes": 2}})
    with pytest.raises(ConfigError, match="needs a head for every token, here head='classifier'"):
        MaskedLanguageModel.sketch(classifier)
    with pytest.raises(ConfigError, match="'masked_language_model' needs a model of family='encoder'"):
        task_of(made).loss(torch.nn.Linear(1, 1), task_of(made).collate([made.training[0]]))


def test_its_model_is_counted_traced_and_edited(made: TextMaterial) -> None:
    config, batch = made.config.model, task_of(made).collate([made.training[0]])
    model = build(config, seed=0).eval()
    assert gf.count(config.to_dict()).total.parameters == sum(x.numel() for x in model.parameters())
    with gf.record(model) as trace:
        plain = model(batch.tokens)
    assert {"embedding.output", "encoder.blocks.0.self_attention.weights", "head.logits"} <= set(trace)
    with gf.edit(model, {"encoder.blocks.0.self_attention.weights": torch.zeros_like}):
        assert not torch.equal(model(batch.tokens), plain)
    task_of(made).loss(model, batch)  # through the taps of the encoder and of the head


@pytest.mark.slow
def test_masked_models_side_by_side(tmp_path: Path) -> None:
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(tiny(NAME, train={"steps": 2, "accumulate": 1}).to_toml(), encoding="utf-8")
    vary = {"run.task.whole_word": [False, True]}
    trials = plan_trials(recipe, vary, 1, tmp_path / "out")
    assert sum(isinstance(event, events.Stopped) for _, event in sweep(trials)) == 2
    again = plan_trials(recipe, vary, 1, tmp_path / "out")
    assert [type(event) for _, event in sweep(again)] == [Skipped, Skipped]
    assert {"loss", "masked_accuracy", "perplexity"} <= set(compare_trials("tiny", trials).rows[0].results[0].metrics)
