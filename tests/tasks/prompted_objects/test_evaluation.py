from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from glassformer.config.recipe import RunConfig
from glassformer.data.prompts import CHOICES
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.prompted_objects.task import PromptedObjects, asked_canvases
from tiny_tasks import tiny

pytest.importorskip("sklearn")

LINES = {"point": r"\(\d+, \d+\) → \d \([\d., ]+\)", "word": r"\w+ → \d \([\d., ]+\)"}


class Oracle(nn.Module):
    """Knows every prompt of a split by heart, and answers as an object head would; `deaf`: for the first digit."""

    def __init__(self, config: RunConfig, split: str, *, deaf: bool = False) -> None:
        super().__init__()
        self.known, self.deaf = asked_canvases(config, split), deaf
        self.asked = PromptedObjects.make(config).collate([self.known[i] for i in range(len(self.known))])
        self.weight = nn.Parameter(torch.zeros(1))

    def encode(self, images: Tensor) -> Tensor:
        return images

    def decode(self, prompts: Tensor, memory: Tensor) -> Tensor:
        y = torch.zeros(*prompts.shape, 15)
        for row, (prompt, image) in enumerate(zip(prompts, memory, strict=True)):
            i = int((self.asked.images == image).all((1, 2, 3)).nonzero()[0])
            k = int((self.asked.prompts[i] == prompt).all(1).nonzero()[0])
            _, labels, boxes = self.known[i]
            label, box = (labels[0], boxes[0]) if self.deaf else (self.asked.labels[i, k], self.asked.boxes[i, k])
            y[row, -1, int(label)] = 20.0
            y[row, -1, 11:] = torch.as_tensor(box)
        return y


def config(prompt: str) -> RunConfig:
    return tiny("prompted_objects", run={"task": {"kind": "prompted_objects", "prompt": prompt}})


def loaded(folder: Path, split: str, prompt: str = "both", *, deaf: bool = False) -> Loaded:
    made = config(prompt)
    return Loaded(Oracle(made, split, deaf=deaf), None, made, folder, folder / "best")


@pytest.mark.parametrize("prompt", CHOICES)
def test_who_knows_everything_answers_everything(prompt: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = evaluate(loaded(tmp_path, "test", prompt), "test", progress=lambda *state: told.append(state))
    canvases, kinds = len(asked_canvases(config(prompt), "test")), CHOICES[prompt]
    asked = canvases * len(kinds)
    assert (found.total.right.hits, found.total.right.total) == (asked, asked) and told == [(canvases, canvases)]
    assert found.total.chance == 0.5  # two digits on each of these canvases
    assert {kind: one.right.total for kind, one in found.groups.items()} == dict.fromkeys(kinds, canvases)
    pattern = "; ".join(LINES[kind] for kind in kinds)
    assert len(found.hypotheses["test"]) == canvases
    assert all(re.fullmatch(pattern, line) for line in found.hypotheses["test"])
    table = found.to_json()
    assert table["right"]["value"] == 1.0 and table["box_overlap"] == pytest.approx(1.0) and table["readings"] == 1
    assert table["groups"].keys() == found.groups.keys()
    (kept,) = EvaluationLog(tmp_path).read()
    assert kept["right"]["hits"] == asked and kept["chance"] == 0.5


def test_who_does_not_listen_is_right_by_chance(tmp_path: Path) -> None:
    found = evaluate(loaded(tmp_path, "test", deaf=True), "test").total
    assert 0 < found.right.value < 1 and found.right.low < found.chance < found.right.high


def test_the_same_is_asked_every_time(tmp_path: Path) -> None:
    first, second = (evaluate(loaded(tmp_path, "validation")) for _ in range(2))
    assert first.hypotheses == second.hypotheses and first.total == second.total


@pytest.mark.parametrize(("lang", "word"), [("en", "chance, %"), ("ko", "우연(%)")])
def test_it_prints_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str, word: str) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    found = evaluate(loaded(tmp_path, "test"), "test")
    assert word in found._repr_html_() and "<table" in found._repr_html_()
    assert word in repr(found) and "100.0 [" in repr(found) and "50.0" in repr(found)


def test_an_empty_split_is_refused(tmp_path: Path) -> None:
    model = Oracle(config("both"), "test")
    empty = tiny("prompted_objects", data={"validation": 0})
    with pytest.raises(InputError, match="validation"):
        evaluate(Loaded(model, None, empty, tmp_path, tmp_path / "best"), "validation")
