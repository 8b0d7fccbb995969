from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from glassformer.errors import FileError
from glassformer.training import pictures, sweep_picture
from glassformer.training.sweep_picture import COLOURS, band, draw_sweep
from glassformer.training.sweep_results import Curve, SweepComparison, TrialResult, VariantResults


def row(name: str, *curves: Curve, validated: bool = True) -> VariantResults:
    results = [
        TrialResult(seed, Path("run"), "finished", {}, curve if validated else [], [] if validated else curve)
        for seed, curve in enumerate(curves)
    ]
    return VariantResults(name, {}, results)


COMPARISON = SweepComparison("small", 2, [row("a", [(1, 3.0), (2, 2.0)], [(1, 5.0)]), row("b", [(1, 1.0)]), row("c")])


def test_the_band_spans_the_seeds() -> None:
    assert band([[(1, 3.0), (2, 2.0)], [(1, 5.0)], [(1, 4.5)]]) == [(1, 3.0, 4.5, 5.0), (2, 2.0, 2.0, 2.0)]
    assert band([]) == []


def test_a_picture_is_written_whole(tmp_path: Path) -> None:
    draw_sweep(COMPARISON, tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.png"]


@pytest.mark.parametrize(
    ("lang", "validated", "label"),
    [
        ("en", True, "validation loss"),
        ("en", False, "training loss"),
        ("ko", True, "검증 손실"),
    ],
)
def test_lines_colours_and_labels(lang: str, validated: bool, label: str) -> None:
    axes = Figure().add_subplot()
    rows = [row("a", [(1, 3.0), (2, 2.0)], validated=validated), row("b", [(1, 1.0)], validated=validated)]
    sweep_picture._fill(axes, SweepComparison("small", 1, rows), lang)
    assert [line.get_color() for line in axes.lines] == list(COLOURS[:2])
    assert list(axes.lines[0].get_ydata()) == [3.0, 2.0]
    assert axes.get_ylabel() == label
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_without_a_font_for_hangul_the_labels_are_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoken: list[str] = []
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    monkeypatch.setattr(pictures, "hangul_font", lambda: None)
    monkeypatch.setattr(sweep_picture, "_fill", lambda axes, comparison, lang: spoken.append(lang))
    draw_sweep(COMPARISON, tmp_path / "sweep.png")
    assert spoken == ["en"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"sweep\.png cannot be written: No such file or directory"):
        draw_sweep(COMPARISON, tmp_path / "nowhere" / "sweep.png")
