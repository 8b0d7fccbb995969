from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, processors
from torch import Tensor, nn
from transformers import AutoTokenizer

from foreign_texts import LAYOUTS, bert, llama, llama_3, roberta, written
from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.data.pairs import Pairs
from glassformer.errors import ConfigError, FileError, InputError
from glassformer.loading import Loaded
from glassformer.losses import IGNORE
from glassformer.models.build import build
from glassformer.runs import Run
from glassformer.tasks import TASKS
from glassformer.tasks.classification.classify import classify
from glassformer.tasks.embed import embed
from glassformer.tasks.language_model.write import Writing, beginning, write
from glassformer.tasks.masked_language_model.fill import fill
from glassformer.tasks.samples import Sample
from glassformer.tasks.translation.evaluation import total_loss
from glassformer.tasks.translation.samples import TranslationSamples
from glassformer.tasks.translation.translate import translate
from glassformer.text import Frame, Specials, framing, open_tokenizer, pair
from glassformer.text.frame import roles
from small_run import run_config
from texts import trained
from tiny_tasks import tiny

FRAMES = [("none", "none"), ("bos", "eos"), ("cls", "sep"), ("bos", "sep"), ("none", "eos"), ("cls", "none")]


def fed(model: nn.Module, act: Callable[[], object]) -> list[list[int]]:
    """The rows of ids that the model's first embedding was given, the first call alone."""
    seen: list[Tensor] = []
    hook = model.get_submodule("embedding").register_forward_pre_hook(lambda _, given: seen.append(given[0].clone()))
    try:
        act()
    finally:
        hook.remove()
    return [row.tolist() for row in seen[0]]


def begun(task: str, **changes: dict[str, Any]) -> tuple[Any, Loaded]:
    """The material of a tiny recipe, and a model of it that was not trained: enough to see what it reads."""
    material = TASKS[task].task.begin(tiny(task, **changes))
    model = build(material.config.model, seed=0).eval()
    return material, Loaded(model, material.vocabularies, material.config, Path("run"), Path("run"))


def test_the_frame_of_a_text() -> None:
    frame = Frame(1, 5)
    assert (frame.around([7, 8]), frame.front, frame.back, frame.extra) == ([1, 7, 8, 5], [1], [5], 2)
    assert (Frame().around([7]), Frame().extra, Frame(end=2).around([])) == ([7], 0, [2])
    config = run_config({"max_len": 32})
    assert frame.room(config) == 30
    assert frame.room(replace(config, data=replace(config.data, max_length=10))) == 10


def test_a_translator_closes_its_source_unless_it_is_told_otherwise() -> None:
    def said(begin: str, end: str, **options: object) -> tuple[str, str]:
        config = RunConfig(task=Choice("translation", options))
        return roles(replace(config, text=replace(config.text, begin=begin, end=end)))

    assert said("none", "none") == ("none", "eos")
    assert said("none", "none", source_end=False) == ("none", "none")
    assert said("bos", "sep") == said("bos", "sep", source_end=False) == ("bos", "sep")
    with pytest.raises(ConfigError, match=r"task.source_end=1 is of the wrong type"):
        said("none", "none", source_end=1)
    with pytest.raises(InputError, match="cls"):
        Frame.named("cls", "none", Specials(cls=None))


@pytest.mark.many
@pytest.mark.parametrize(("begin", "end"), FRAMES)
def test_a_translator_reads_in_use_what_it_read_in_training(tmp_path: Path, begin: str, end: str) -> None:
    material, loaded = begun("translation", text={"begin": begin, "end": end})
    example = material.training[0]
    text = loaded.tokenizer.decode(example[0].tolist())
    task = material.task
    (learned,) = fed(loaded.model, lambda: task.loss(loaded.model, task.collate([example])))
    assert fed(loaded.model, lambda: translate(loaded, text)) == [learned] == [loaded.framed(text)]
    assert fed(loaded.model, lambda: embed(loaded, text)) == [learned]
    assert fed(loaded.model, lambda: total_loss(loaded, Pairs([text], ["x"]))) == [learned]
    assert loaded.reader().source(text).ids.tolist() == [learned]
    samples = TranslationSamples(
        Run.create(tmp_path / "run", material.config), material.vocabularies, material.validation_texts
    )
    assert fed(loaded.model, lambda: samples.attention(loaded.model, Sample(text, "", ""))) == [learned]


@pytest.mark.many
@pytest.mark.parametrize(("begin", "end"), FRAMES)
def test_a_classifier_reads_in_use_what_it_read_in_training(begin: str, end: str) -> None:
    material, loaded = begun("classification", text={"begin": begin, "end": end})
    example, task = material.training[0], material.task
    text = loaded.tokenizer.decode(example[0].tolist())
    (learned,) = fed(loaded.model, lambda: task.loss(loaded.model, task.collate([example])))
    assert fed(loaded.model, lambda: classify(loaded, text)) == [learned] == [loaded.framed(text)]
    assert fed(loaded.model, lambda: embed(loaded, text)) == [learned]


@pytest.mark.parametrize(("begin", "end"), FRAMES)
def test_a_masked_model_reads_in_use_what_it_read_in_training(begin: str, end: str) -> None:
    material, loaded = begun("masked_language_model", text={"begin": begin, "end": end})
    example, task = material.training[0], material.task
    batch = task.collate([example])
    learned = torch.where(batch.targets != IGNORE, batch.targets, batch.tokens)[0].tolist()
    text = " ".join(loaded.tokenizer.decode(example[0].tolist()).split())
    assert loaded.framed(text) == learned
    words = text.split(" ")
    (asked,) = fed(loaded.model, lambda: fill(loaded, " ".join([*words[:-1], "___"])))
    hidden = loaded.tokenizer.specials.need("mask")
    assert asked == [*learned[: len(loaded.frame.front) + len(words) - 1], hidden, *loaded.frame.back]


@pytest.mark.parametrize("documents", ["packed", "stream"])
def test_a_writer_goes_on_from_what_it_read_in_training(documents: str) -> None:
    task = {"kind": "language_model", "context": 15, "documents": documents}
    material, loaded = begun("language_model", run={"task": task})
    batch = material.task.collate([material.training[0]])
    row = batch.tokens[0] if batch.documents is None else batch.tokens[0][batch.documents[0] == 0]
    learned, begin = row.tolist()[:4], loaded.frame.front
    assert learned[: len(begin)] == begin and len(begin) == (documents == "packed")
    text = loaded.tokenizer.decode(learned)
    (asked,) = fed(loaded.model, lambda: write(loaded, text, Writing(tokens=1)))  # the last is fed apart
    assert [*asked, learned[-1]] == beginning(loaded, text) == learned


@pytest.mark.parametrize(("documents", "key", "role"), [("packed", "begin", "cls"), ("stream", "end", "eos")])
def test_a_frame_that_a_writer_would_not_learn_is_refused(documents: str, key: str, role: str) -> None:
    task = {"kind": "language_model", "context": 15, "documents": documents}
    with pytest.raises(ConfigError, match=rf"text.{key}={role}: with task.documents={documents} a text has \w+ there"):
        TASKS["language_model"].task.sketch(tiny("language_model", run={"task": task}, text={key: role}))


@pytest.mark.many
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_roles_give_the_frame_of_transformers(layout: str, tmp_path: Path) -> None:
    make, expected = LAYOUTS[layout]
    folder = make(tmp_path)
    assert framing(folder) == expected
    tokenizer = open_tokenizer(folder)
    begin, end = ([] if role == "none" else [tokenizer.specials.need(role)] for role in expected)
    for text in ("I go", "나는", ""):
        assert [*begin, *tokenizer.encode(text), *end] == AutoTokenizer.from_pretrained(folder).encode(text)


@pytest.mark.parametrize(
    ("said", "roles"),
    [
        ({"add_bos_token": True, "add_eos_token": True}, ("bos", "eos")),
        ({"add_bos_token": False, "add_eos_token": True}, ("none", "eos")),
        ({"add_bos_token": False, "add_eos_token": None}, ("none", "none")),
        ({"add_bos_token": None, "add_eos_token": None}, None),
    ],
)
def test_what_the_configuration_says_comes_first(
    said: dict[str, bool | None], roles: tuple[str, str] | None, tmp_path: Path
) -> None:
    assert framing(llama(tmp_path, **said)) == roles
    told = {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", **said}
    written(llama_3(tmp_path / "json"), {"tokenizer_config.json": told})
    assert framing(tmp_path / "json") == (roles or ("bos", "none"))


def test_a_role_without_its_token_is_none(tmp_path: Path) -> None:
    written(bert(tmp_path), {"tokenizer_config.json": {"add_bos_token": True, "add_eos_token": False}})
    assert framing(tmp_path) == ("none", "none")


def test_nobody_says(tmp_path: Path) -> None:
    trained("bpe").save(tmp_path / "own")
    assert framing(tmp_path / "own") is None
    folder = roberta(tmp_path / "lists")
    (folder / "tokenizer_config.json").unlink()
    (folder / "config.json").unlink()
    assert framing(folder) is None


def test_a_frame_of_other_tokens_is_refused(tmp_path: Path) -> None:
    folder = llama_3(tmp_path)
    library = Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.post_processor = processors.TemplateProcessing(
        single="<|begin_of_text|> <|eot_id|> $A", special_tokens=[("<|begin_of_text|>", 420), ("<|eot_id|>", 422)]
    )
    library.save(str(folder / "tokenizer.json"))
    with pytest.raises(FileError, match=r"tokenizer\.json puts 2 special tokens \[420, 422\] around a text"):
        framing(folder)


def test_a_frame_that_leaves_the_text_out_is_refused(tmp_path: Path) -> None:
    folder = llama_3(tmp_path)
    table = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    name = "<|begin_of_text|>"
    begin = {"SpecialToken": {"id": name, "type_id": 0}}
    table["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [begin],
        "pair": [begin],
        "special_tokens": {name: {"id": name, "ids": [420], "tokens": [name]}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(table), "utf-8")
    with pytest.raises(FileError, match=r"tokenizer\.json has a post-processor that leaves the text out"):
        framing(folder)


def test_a_pair_has_two_segments_as_in_bert(tmp_path: Path) -> None:
    folder = bert(tmp_path)
    tokenizer = open_tokenizer(folder)
    first, second = tokenizer.encode("I go"), tokenizer.encode("나는 학교에")
    expected = AutoTokenizer.from_pretrained(folder)("I go", "나는 학교에")
    ids, segments = pair(first, second, [tokenizer.specials.need("cls")], [tokenizer.specials.need("sep")])
    assert (ids, segments) == (expected["input_ids"], expected["token_type_ids"])


def test_a_pair_of_roberta_has_two_ends_between(tmp_path: Path) -> None:
    folder = roberta(tmp_path)
    tokenizer = open_tokenizer(folder)
    ids, _ = pair(tokenizer.encode("I go"), tokenizer.encode("나는"), [0], [2], between=[2])
    assert ids == AutoTokenizer.from_pretrained(folder)("I go", "나는")["input_ids"]


def test_a_text_is_cut_so_that_it_fits_in_its_frame() -> None:
    frame = Frame(begin=1, end=2)
    assert frame.fit([7, 8, 9], None) == frame.fit([7, 8, 9], 5) == [7, 8, 9]
    assert frame.fit([7, 8, 9], 4, truncate=True) == [7, 8]
    assert frame.fit([7, 8, 9], 1, truncate=True) == []
    with pytest.raises(InputError, match="the text has 5 positions, and at most 4 are read"):
        frame.fit([7, 8, 9], 4)
    assert frame.begun([7]) == [1, 7] and Frame(end=2).begun([7]) == [7]
