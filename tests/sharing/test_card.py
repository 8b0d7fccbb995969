from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.sharing.card import METRICS, SAYS, ModelCard
from glassformer.tasks import TASKS
from glassformer.words import LANGUAGES, sentences

CARD = ModelCard(
    name="digits",
    task="image_classification",
    recipe="digits",
    command="glassformer train digits --seed 3",
    seed=3,
    steps=4000,
    parameters=229_000,
    bytes=458_000,
    dtype="float16",
    data={"digits": "CC BY 4.0"},
    split="test",
    metric="accuracy",
    score=0.98765,
    score_before=0.99,
    groups={},
    beside={},
    sha256="ab" * 32,
)


def test_a_card_is_written_and_read(tmp_path: Path) -> None:
    CARD.write(tmp_path)
    assert ModelCard.read(tmp_path) == CARD
    assert json.loads((tmp_path / "card.json").read_text()) == CARD.to_json()


def test_it_shows_the_facts_in_both_languages() -> None:
    told = repr(CARD)
    for fact in ("accuracy 98.77 %, on test", "accuracy 99.00 %", "digits (CC BY 4.0)", "4,000", "0.5 MB, float16"):
        assert fact in told
    assert "정확도 98.77 %" in str(CARD.scored(CARD.score, "ko")) and "<table" in CARD._repr_html_()
    assert replace(CARD, task="forecasting", metric="mse").scored(0.12341) == "MSE 0.1234"
    assert replace(CARD, score=None).scored(None) == "–"
    assert replace(CARD, bytes=12_300).size == "12.3 kB"
    assert replace(CARD, data={"a": "MIT", "b": "", "c": "MIT"}).licence == "MIT"
    assert replace(CARD, data={"csv": ""}).licence == "–"


def test_every_task_has_a_metric_with_a_name() -> None:
    assert set(METRICS) == set(TASKS)
    for lang in LANGUAGES:
        assert all(f"models.metrics.{metric}" in sentences(lang) for metric, _ in METRICS.values())


def test_only_a_model_of_the_package_is_spoken_of() -> None:
    assert len(CARD.says("en")) == len(CARD.says("ko")) == len(SAYS)
    assert replace(CARD, name="mine").says("en") == []


@pytest.mark.parametrize("text", ["[]", "{}", '{"name": "x"}', '{"data": 5}'])
def test_a_damaged_card_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match=r"has no card\.json; glassformer export RUN --to run writes one"):
        ModelCard.read(tmp_path)
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(FileError, match=r"card\.json is not a card as export writes it; write it again"):
        ModelCard.read(tmp_path)
