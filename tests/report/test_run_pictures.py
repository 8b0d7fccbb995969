from __future__ import annotations

from pathlib import Path

import pytest

import small_classifier
from glassformer.lessons.svg import as_svg, styled
from glassformer.lessons.theme import LIGHT
from glassformer.report.run import RunChapter
from glassformer.report.run_pictures import MOST_POINTS, Draughtsman, thinned
from glassformer.words import LANGUAGES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_all_pictures_of_a_run(lang: str, tmp_path: Path) -> None:
    chapter = RunChapter(small_classifier.trained(tmp_path))
    with styled(LIGHT, lang):
        figures = {name: make() for name, make in Draughtsman(chapter, lang).figures().items()}
        assert {"loss_curves", "learning_rate", "training_dashboard", "run_confusion"} <= set(figures)
        assert len(figures["training_dashboard"].axes) == 4
        for name, figure in figures.items():
            assert 'class="hover"' in as_svg(figure, name, lang, "seen")


def test_a_run_that_has_hardly_begun_has_none(tmp_path: Path) -> None:
    chapter = RunChapter(small_classifier.trained(tmp_path))
    chapter.records.clear()
    assert "loss_curves" not in Draughtsman(chapter, "en").figures()


def test_a_long_log_is_thinned_and_keeps_its_end() -> None:
    steps, values = thinned(range(1001), [float(i) for i in range(1001)])
    assert len(steps) <= MOST_POINTS + 1 and (steps[0], steps[-1], values[-1]) == (0, 1000, 1000.0)
    assert thinned([], []) == ([], [])
    assert thinned([1], [2.0]) == ([1], [2.0])
