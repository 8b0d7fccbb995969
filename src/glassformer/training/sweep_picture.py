"""The curves of a sweep as a picture: a line for each variant, the median over its seeds, in a band of all seeds."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from glassformer.files import write_figure
from glassformer.show.theme import FILE_THEME, styled
from glassformer.training.pictures import spoken
from glassformer.training.sweep_results import Curve, SweepComparison
from glassformer.words import say

COLOURS = (
    FILE_THEME.blue,
    FILE_THEME.vermilion,
    FILE_THEME.green,
    FILE_THEME.purple,
    FILE_THEME.orange,
    FILE_THEME.sky,
    FILE_THEME.ink,
)
STYLES = ("-", "--", ":", "-.")  # once the colours are used up


def band(curves: list[Curve]) -> list[tuple[int, float, float, float]]:
    """(step, lowest, median, highest) at every step that any of the curves has."""
    at: dict[int, list[float]] = {}
    for curve in curves:
        for step, loss in curve:
            at.setdefault(step, []).append(loss)
    return [(step, min(losses), median(losses), max(losses)) for step, losses in sorted(at.items())]


def draw_sweep(comparison: SweepComparison, path: Path) -> None:
    """Validation losses, or training losses if nothing was validated. Writes the whole file or leaves the old one."""
    lang = spoken()
    with styled(FILE_THEME, lang):
        figure = FILE_THEME.figure(8, 5)
        _fill(figure.add_subplot(), comparison, lang)
        write_figure(path, figure, dots=120)


def _fill(axes: Any, comparison: SweepComparison, lang: str) -> None:
    validated = any(result.validation for row in comparison.rows for result in row.results)
    for number, row in enumerate(comparison.rows):
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number // len(COLOURS) % len(STYLES)]
        points = band([result.validation if validated else result.training for result in row.results])
        if not points:
            continue
        steps, low, middle, high = zip(*points, strict=True)
        axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(steps, middle, style, color=colour, marker="o" if len(steps) < 20 else None, label=row.name)
    axes.set_xlabel(say("sweep.step", lang))
    axes.set_ylabel(say("sweep.validation_loss" if validated else "sweep.training_loss", lang))
    axes.set_title(f"{comparison.recipe}. {say('sweep.picture', lang)}")
    if axes.lines:
        axes.legend()
