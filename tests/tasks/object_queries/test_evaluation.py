from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from glassformer.data.canvases import CanvasPlan
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.tasks.evaluation import evaluate
from glassformer.tasks.evaluation_log import EvaluationLog
from tiny_tasks import tiny

pytest.importorskip("sklearn")


class Oracle(nn.Module):
    """Knows every canvas of a split by heart, and reports it as an object head would; `lies`: one class too many."""

    def __init__(self, plan: CanvasPlan, split: str, *, lies: bool = False) -> None:
        super().__init__()
        self.known, self.lies = plan.examples(split), lies
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, images: Tensor) -> Tensor:
        y = torch.zeros(len(images), 2, 15)
        y[:, :, 10] = 9.0  # nothing
        for row, image in enumerate(images):
            seen = (self.known.fields["image"] / 16.0 == image[0].numpy()).all((1, 2)).argmax()
            _, labels, boxes = self.known[int(seen)]
            y[row, 0, (int(labels[0]) + self.lies) % 10] = 20.0
            y[row, 0, 11:] = torch.from_numpy(boxes[0])
        return y


def loaded(tmp_path: Path, split: str, **how: bool) -> Loaded:
    config = tiny("object_queries")
    return Loaded(Oracle(CanvasPlan.of(config.data), split, **how), None, config, tmp_path, tmp_path / "best")


def test_who_knows_everything_finds_everything(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = evaluate(loaded(tmp_path, "test"), "test", progress=lambda *state: told.append(state))
    assert (found.total.found.value, found.total.found.total, found.total.false_alarms) == (1.0, 8, 0.0)
    assert found.total.box_overlap == pytest.approx(1.0) and found.total.canvases == 8
    assert sum(share.total for share in found.groups.values()) == 8 and told == [(8, 8)]
    assert len(found.hypotheses["test"]) == 8
    assert all(re.fullmatch(r"\d \(0\.\d{3}(, 0\.\d{3}){3}\)", line) for line in found.hypotheses["test"])
    table = found.to_json()
    assert table["found"]["hits"] == 8 and table["precision"]["value"] == 1.0 and table["readings"] == 1
    assert [record["found"]["hits"] for record in EvaluationLog(tmp_path).read()] == [8]


def test_a_wrong_class_is_a_digit_less_and_a_false_alarm_more(tmp_path: Path) -> None:
    found = evaluate(loaded(tmp_path, "validation", lies=True))
    assert (found.total.found.hits, found.total.false_alarms) == (0, 1.0)
    assert found.total.precision is not None and found.total.precision.value == 0.0


@pytest.mark.parametrize(("lang", "word"), [("en", "False alarms: 0.000"), ("ko", "거짓 경보")])
def test_it_prints_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str, word: str) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", lang)
    found = evaluate(loaded(tmp_path, "validation"))
    text = repr(found)
    assert word in found._repr_html_()  # type: ignore[attr-defined]
    assert word in text and "100.0 [61.0–100.0]" in text


def test_an_empty_split_is_refused(tmp_path: Path) -> None:
    config = tiny("object_queries", data={"validation": 0})
    model = Oracle(CanvasPlan.of(config.data), "test")
    with pytest.raises(InputError, match="validation"):
        evaluate(Loaded(model, None, config, tmp_path, tmp_path / "best"), "validation")
