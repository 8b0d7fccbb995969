from __future__ import annotations

from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import glassformer as gf
from exported_graphs import need_onnx
from glassformer.config.values import Choice
from glassformer.graphs.describe import describe
from glassformer.graphs.forms import graphs_of
from glassformer.graphs.readme import code, readme
from glassformer.loading import Loaded
from glassformer.tasks.image_classification.recognise import seen
from tiny_runs import KINDS, trained

pytestmark = pytest.mark.slow


def written(loaded: Loaded, readable: bool = True) -> str:
    found = code(loaded, describe(loaded, graphs_of(loaded.model, loaded.config)), readable)
    compile(found, "README.md", "exec")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_both_languages_have_the_same_lines_and_name_every_input(kind: str, tmp_path: Path) -> None:
    loaded = gf.load(trained(kind, tmp_path))
    table = describe(loaded, graphs_of(loaded.model, loaded.config))
    english, korean = (readme(loaded, table, True, lang) for lang in ("en", "ko"))
    assert english.startswith("# A model as ONNX graphs\n") and korean.startswith("# ONNX 그래프로 내보낸 모델\n")
    assert english.split("```")[1] == korean.split("```")[1] == f"python\n{written(loaded)}"
    for graph in table["graphs"].values():
        assert all(f"`{name}`" in korean for name in (*graph["inputs"], *graph["outputs"]))
    assert max(map(len, written(loaded).splitlines())) <= 120


def test_text_that_was_prepared_is_prepared_again(tmp_path: Path) -> None:
    loaded = gf.load(trained("translation", tmp_path))
    data = replace(loaded.config.data, prepare="lowercase")
    lines = written(replace(loaded, config=replace(loaded.config, data=data)))
    assert 'prepared_side("lowercase", "ko")("' in lines
    assert "glassformer" not in written(loaded)


def test_a_tokenizer_of_another_kind_is_opened_here(tmp_path: Path) -> None:
    lines = written(gf.load(trained("translation", tmp_path)), readable=False)
    assert 'Vocabularies.open(".")' in lines and "from tokenizers" not in lines


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"classes": 1}, "int(logits[0, 0] > 0)"),
        ({"classes": 3}, "int(logits[0].argmax())"),
        ({"classes": 3, "pool": "each"}, "for i in logits[0].argmax(-1)"),
    ],
)
def test_classes_are_read_as_the_head_gives_them(options: dict[str, Any], line: str, tmp_path: Path) -> None:
    loaded = gf.load(trained("classification", tmp_path))
    model = replace(loaded.config.model, head=Choice("classifier", options))
    assert line in written(replace(loaded, config=replace(loaded.config, model=model)))


@pytest.mark.parametrize("options", [{}, {"enlarge": 11}, {"enlarge": 11, "shortest": True}, {"enlarge": 6}])
def test_a_picture_is_prepared_as_recognise_does(options: dict[str, Any], tmp_path: Path) -> None:
    need_onnx()
    loaded = gf.load(trained("image_classification", tmp_path))
    plain = {"mean": [0.0], "std": [1.0]}  # which are part of the graph
    task = Choice("image_classification", {**loaded.config.task.options, **plain, **options})
    loaded = replace(loaded, config=replace(loaded.config, task=task))
    grey = np.random.default_rng(0).integers(0, 255, (23, 31), dtype=np.uint8)
    Image.fromarray(grey).save(tmp_path / "picture.png")
    lines, _, _ = written(loaded).partition("model = ort")
    names: dict[str, Any] = {}
    with chdir(tmp_path):
        exec("\n".join(line for line in lines.splitlines() if "graphs.json" not in line), names)
    assert torch.equal(torch.from_numpy(names["pixels"]), seen(loaded, [tmp_path / "picture.png"]))
