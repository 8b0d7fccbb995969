from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.config.recipe import RunConfig
from glassformer.data.corpus import Corpus
from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents
from glassformer.data.store import Store
from glassformer.data.stream import Stream
from glassformer.errors import ConfigError, InputError
from glassformer.loading import load, open_recipe
from glassformer.losses import Sum
from glassformer.models.build import build
from glassformer.models.check import check
from glassformer.tasks.language_model.task import LanguageModel, WindowOptions, Writings, joined
from glassformer.text import Specials
from glassformer.training.compile import compile_parts
from glassformer.training.events import Stopped
from glassformer.training.sweep import plan_trials, sweep
from small_writer import trained
from tiny_tasks import tiny


def recipe(model: dict[str, Any] | None = None, text: dict[str, Any] | None = None, **task: Any) -> RunConfig:
    kind = {"kind": "language_model", "context": 15, **task}
    return tiny("language_model", run={"task": kind}, model=model or {}, text=text or {})


def material(**keys: Any) -> Writings:
    return LanguageModel.begin(recipe(**keys))


def texts(config: RunConfig) -> Corpus[Documents]:
    return document_corpus(config.data)


def test_a_stream_is_all_texts_with_their_ends_between_them() -> None:
    made = material()
    assert isinstance(made.training, Stream)
    tokenizer, eos = made.vocabularies.source, made.vocabularies.source.specials.need("eos")
    row = made.training.tokens.tolist()
    assert row.count(eos) == len(texts(made.config).train) - 1 and row[-1] != eos
    first = texts(made.config).train.texts[0]
    assert row[: row.index(eos)] == tokenizer.encode(first)
    assert (made.config.text.begin, made.config.text.end) == ("none", "none")


def test_one_text_alone_is_left_as_it_is() -> None:
    assert joined([[7, 8]], Specials()).tolist() == [7, 8]
    assert joined([[7], [8]], Specials()).tolist() == [7, 2, 8]
    assert joined([], Specials()).tolist() == []


def test_packed_texts_have_a_frame_that_generation_knows_of() -> None:
    made = material(documents="packed")
    assert isinstance(made.training, Store) and made.validation is not None
    assert (made.config.text.begin, made.config.text.end) == ("bos", "eos")
    batch = made.task.collate([made.training[i] for i in range(4)])
    assert batch.documents is not None and batch.tokens.shape[1] <= 15
    assert batch.tokens[0, 0] == made.vocabularies.source.specials.bos


def test_packed_rows_cost_what_their_texts_cost_alone() -> None:
    """No text sees another: the sum of the losses is that of every text by itself."""
    made = material(documents="packed", context=40)
    model = build(made.config.model, seed=0).double().eval()
    batch = made.task.collate([made.training[i] for i in range(len(made.training))])
    whole = made.task.loss(model, batch)
    nats = 0.0
    for text in texts(made.config).train:
        ids = torch.tensor([[1, *made.vocabularies.source.encode(text), 2]])
        nats += torch.nn.functional.cross_entropy(model(ids[:, :-1])[0], ids[0, 1:], reduction="sum").item()
    assert whole.total.item() == pytest.approx(nats, rel=1e-9)


def test_the_same_rows_in_chunks() -> None:
    for how in ({"documents": "packed"}, {"documents": "stream"}):
        made = material(**how)
        model = build(made.config.model, seed=0).double()
        batch = made.task.collate([made.training[i] for i in range(4)])
        plain = made.task.loss(model, batch)
        chunked = LanguageModel(reading=WindowOptions.of(made.config), chunk=7).loss(model, batch)
        torch.testing.assert_close(chunked.total, plain.total, rtol=1e-10, atol=0)


def test_offsets_are_random_only_in_training_and_only_if_asked_for() -> None:
    made = material()
    some = [made.training[i] for i in range(4)]
    plain = made.task.collate(some)
    assert not torch.equal(made.task.collate(some, np.random.default_rng(0)).tokens, plain.tokens)
    steady = material(offsets="consecutive").task
    assert torch.equal(steady.collate(some, np.random.default_rng(0)).tokens, plain.tokens)


def test_on_an_accelerator_every_batch_of_windows_has_one_size_and_costs_the_same() -> None:
    config = recipe(context=8, documents="stream")
    found = material(context=8, documents="stream")
    model, windows = build(found.config.model, seed=0).train(), [found.training[i] for i in range(5)]
    task = found.task.of_one_size(replace(config.train, batch_tokens=64, max_sentences=None), longest=None)
    assert [task.collate(windows[:n]).tokens.shape for n in (2, 5)] == [(8, 8)] * 2
    costs = {}
    for name, each in {"as they are": found.task, "of one size": task}.items():
        model.zero_grad()
        batch = each.collate(windows)
        loss = each.loss(model, batch)
        loss.total.backward()
        costs[name] = (batch.count, loss.total, [p.grad.clone() for p in model.parameters() if p.grad is not None])
    torch.testing.assert_close(costs["as they are"], costs["of one size"])
    few = found.task.of_one_size(replace(config.train, batch_tokens=64, max_sentences=3), longest=None)
    assert few.collate(windows[:2]).tokens.shape == (3, 8)


def test_bits_per_character_do_not_depend_on_the_tokens() -> None:
    task = LanguageModel(reading=WindowOptions(context=4, documents="stream", offsets="random"), characters=2.0)
    found = task.metrics({"loss": Sum(torch.tensor(40 * math.log(2)), torch.tensor(10))})
    assert found["loss"] == pytest.approx(4 * math.log(2)) and found["perplexity"] == pytest.approx(16)
    assert found["bits_per_character"] == pytest.approx(2.0)
    for how, ends in (("stream", 9), ("packed", 10)):
        made = material(documents=how)
        tokens = sum(len(made.vocabularies.source.encode(text)) for text in made.validation_texts)
        assert made.task.characters == pytest.approx(made.validation_texts.characters / (tokens + ends))


def test_all_characters_there_are() -> None:
    made = material(text={"tokenizer": "characters", "vocab_size": 0})
    used = set("".join(texts(made.config).train))
    assert made.config.model.vocab_size == 7 + 256 + len(used)
    assert made.config.text.vocab_size == 0


def test_without_validation_texts_there_is_no_validation() -> None:
    config = tiny("language_model", data={"validation": 0})
    assert LanguageModel.begin(config).validation is None


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"context": 0}, r"task\.context=0"),
        ({"documents": "pack"}, r"task\.documents='pack'"),
        ({"offsets": 3}, r"task\.offsets=3"),
        ({"contxt": 3}, "did you mean context"),
        ({"context": 65}, r"task\.context=65 is longer than the table of positions, model\.max_len=64"),
        ({"model": {"family": "encoder"}}, "decoder"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused_before_anything_is_read(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        LanguageModel.sketch(recipe(**keys))


def test_rotary_positions_know_no_longest_context() -> None:
    LanguageModel.sketch(recipe(context=650, model={"position": "rotary"}))


def test_another_model_is_refused() -> None:
    made = material()
    batch = made.task.collate([made.training[0]])
    with pytest.raises(ConfigError, match="decoder"):
        made.task.loss(torch.nn.Linear(2, 2), batch)


def test_a_text_that_is_too_short(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three", encoding="utf-8")
    config = tiny(
        "language_model",
        data={"source": {"kind": "files", "train": str(tmp_path / "a.txt")}},
        text={"tokenizer": "characters", "vocab_size": 0},
    )
    with pytest.raises(InputError, match="a text of 13 tokens has no window of 15"):
        LanguageModel.begin(config)


@pytest.mark.parametrize("name", ["characters", "sentences-ko", "shakespeare-char", "shakespeare-small"])
def test_the_recipes_describe_models(name: str) -> None:
    config = open_recipe(name, {})
    sketch = LanguageModel.sketch(config)
    check(sketch.model)
    assert config.task.kind == "language_model" and config.train.batch_tokens >= WindowOptions.of(config).context


@pytest.mark.slow
def test_a_model_that_writes_is_counted_followed_changed_and_varied(tmp_path: Path) -> None:
    run = trained(tmp_path, documents="packed")
    loaded = load(run)
    (tmp_path / "recipe.toml").write_text(loaded.config.to_toml(), encoding="utf-8")
    assert gf.count(loaded.config.model).total.parameters == sum(p.numel() for p in loaded.model.parameters())
    ids = torch.tensor([loaded.framed("Jihun has")[:-1]])
    with gf.record(loaded.model) as trace:
        plain = loaded.model(ids)
    assert len(trace.attention()) == 1 and torch.equal(plain, loaded.model(ids))
    with gf.edit(loaded.model, {"decoder.blocks.0.self_attention.heads": gf.zero(head=1)}):
        assert not torch.equal(plain, loaded.model(ids))
    trials = plan_trials(tmp_path / "recipe.toml", {"model.dropout": [0.0, 0.1]}, 1, tmp_path / "sweep")
    told = [event for _, event in sweep(trials)]
    assert sum(isinstance(event, Stopped) for event in told) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
@pytest.mark.parametrize("how", ["stream", "packed"])
def test_compiled_it_gives_the_same(how: str) -> None:
    made = material(documents=how)
    model = build(made.config.model, seed=0)
    batch = made.task.collate([made.training[i] for i in range(4)])
    plain = made.task.loss(model, batch).total
    compiled = compile_parts(model, made.task, backend="aot_eager")
    torch.testing.assert_close(compiled.loss(model, batch).total, plain)
