"""The three pictures of a run, drawn from its folder, so a resumed run redraws the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.files import disk, write_figure
from glassformer.fonts import hangul_font
from glassformer.runs import Run
from glassformer.show.theme import FILE_THEME, Theme, styled
from glassformer.tasks import kind_of
from glassformer.tasks.task import TaskClass
from glassformer.training.panels import (
    DrawPanel,
    PanelWords,
    RunHistory,
    draw_attention,
    draw_loss,
    draw_norm,
    draw_quality,
    draw_rate,
    draw_samples,
    draw_speed,
    draw_status,
)
from glassformer.words import language

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BOARD: Any = [["loss", "rate", "norm"], ["speed", "quality", "attention"], ["status", "samples", "samples"]]
PANELS: dict[str, DrawPanel] = {
    "loss": draw_loss,
    "rate": draw_rate,
    "norm": draw_norm,
    "speed": draw_speed,
    "quality": draw_quality,
    "attention": draw_attention,
    "status": draw_status,
    "samples": draw_samples,
}


def draw_run(run: Run) -> list[Path]:
    """Draw all pictures of a run again; a reader sees the old one or the new one, never half of one."""
    lang = spoken()
    paths = []
    with styled(FILE_THEME, lang):
        for name, figure in figures(RunHistory.of(run, lang), lang, kind_of(run.config).task).items():
            paths.append(run.pictures / f"{name}.png")
            save(figure, paths[-1])
    return paths


def spoken() -> str:
    """The language of the words in a picture: English where no font has Hangul."""
    return "en" if hangul_font() is None else language()


def figures(story: RunHistory, lang: str, task: TaskClass) -> dict[str, Figure]:
    """Loss, learning rate, and the dashboard, as figures without pyplot, which would keep them in memory."""
    from matplotlib.figure import Figure

    words = PanelWords(lang, task)
    alone = {"left": 0.1, "right": 0.97, "bottom": 0.12, "top": 0.92}
    loss, rate = Figure(figsize=(8, 4.5)), Figure(figsize=(8, 4.5))
    draw_loss(loss.subplots(gridspec_kw=alone), story, words, FILE_THEME)
    draw_rate(rate.subplots(gridspec_kw=alone), story, words, FILE_THEME)
    board = Figure(figsize=(13, 10))  # margins by hand: a layout engine takes as long as all the drawing
    margins = {"left": 0.06, "right": 0.98, "bottom": 0.04, "top": 0.96, "wspace": 0.24, "hspace": 0.34}
    draw_board(board.subplot_mosaic(BOARD, gridspec_kw=margins), story, words, FILE_THEME)
    return {"loss_curves": loss, "learning_rate": rate, "dashboard": board}


def draw_board(
    places: Mapping[str, Axes],
    story: RunHistory,
    words: PanelWords,
    theme: Theme,
    panels: Mapping[str, DrawPanel] = PANELS,
) -> None:
    """All of a run on one page: curves above, status and samples below, attention beside them."""
    for name, panel in panels.items():
        panel(places[name], story, words, theme)


# --- files ---


def save(figure: Figure, path: Path) -> None:
    """Write the whole file, or leave the one that was there before."""
    with disk(path):
        path.parent.mkdir(exist_ok=True)
    write_figure(path, figure, durable=False)
