from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.textbook.book import Say
from glassformer.textbook.predicted import Card, PredictedRow
from glassformer.textbook.run import RunChapter
from glassformer.textbook.run_page import card_table, run_html, run_markdown
from glassformer.words import LANGUAGES
from small_translator import trained

CARD = Card(
    rows=(
        PredictedRow("flops", 1000, 1000),
        PredictedRow("memory", 2 * 2**20, 2**20),
        PredictedRow("tokens", 150, 100),
        PredictedRow("seconds", None, 61.0),
    ),
    batch=5,
    length=126,
)


def test_predicted_and_measured_with_the_error() -> None:
    table = card_table(CARD, Say("en"))
    assert len(table.columns) == 4
    assert [row.cells[1:] for row in table.rows] == [
        ("1,000", "1,000", "+0.0%"),
        ("2.0 MiB", "1.0 MiB", "+100.0%"),
        ("150", "100", "+50.0%"),
        ("–", "0:01:01", "–"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_html_and_markdown_have_the_same_parts(lang: str, tmp_path: Path) -> None:
    chapter, words = RunChapter(trained(tmp_path)), Say(lang)
    html = run_html(chapter, CARD, words)
    markdown = "\n\n".join(run_markdown(chapter, CARD, words, tmp_path))
    for text in (html, markdown):
        assert words("run.title") in text and words("predicted.title") in text and "small-run" in text
        assert words("run.pictures.loss_curves") in text
    assert "<svg" in html and "pictures/" in markdown
    assert (tmp_path / "pictures" / lang / "training_dashboard.png").is_file()
