from __future__ import annotations

from pathlib import Path

import pytest

import legible
import small_classifier
import small_forecaster
from glassformer.show.figure import as_svg
from glassformer.show.theme import LIGHT, THEMES, Theme, styled
from glassformer.textbook.run import RunChapter
from glassformer.textbook.run_pictures import Draughtsman
from glassformer.words import LANGUAGES


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGUAGES)
def test_all_pictures_of_a_run(lang: str, tmp_path: Path) -> None:
    chapter = RunChapter(small_classifier.trained(tmp_path))
    with styled(LIGHT, lang):
        figures = {name: make() for name, make in Draughtsman(chapter, lang).figures().items()}
        assert {"loss_curves", "learning_rate", "training_dashboard", "run_confusion"} <= set(figures)
        for name, figure in figures.items():
            assert 'class="hover"' in as_svg(figure, name, lang, "seen")


def test_a_run_that_has_hardly_begun_has_none(tmp_path: Path) -> None:
    chapter = RunChapter(small_classifier.trained(tmp_path))
    chapter.records.clear()
    assert "loss_curves" not in Draughtsman(chapter, "en").figures()


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_they_can_be_read(theme: Theme, tmp_path: Path) -> None:
    chapter = RunChapter(small_forecaster.trained(tmp_path / "run").folder)
    for lang in LANGUAGES:
        with styled(theme, lang):
            figures = {name: make() for name, make in Draughtsman(chapter, lang, theme).figures().items()}
        assert {"run_forecast", "run_attention"} <= set(figures)
        for name, figure in figures.items():
            legible.laid_out(figure)
            assert legible.misprints(figure) == [], name
            assert legible.cut_off(figure) == [], name
            assert legible.crossing(figure) == [], name
            assert legible.faint(figure, theme) == [], name
            assert legible.unexplained(figure) == [], name


def test_a_forecast_shows_its_patches_from_1_and_what_came(tmp_path: Path) -> None:
    chapter = RunChapter(small_forecaster.trained(tmp_path / "run").folder)
    sample = chapter.forecast
    assert sample is not None and len(sample.first) == len(sample.attention)
    with styled(LIGHT, "en"):
        figure = Draughtsman(chapter, "en").figures()["run_forecast"]()
    series = figure.axes[0]
    numbers = [text.get_text() for text in series.texts]
    assert numbers == [str(number + 1) for number in range(len(sample.first))]
    curves = {line.get_label(): list(line.get_ydata()) for line in series.lines}
    assert curves["what came"] == [sample.past[-1], *sample.future]
    assert curves["what it said"] == [sample.past[-1], *sample.said]
