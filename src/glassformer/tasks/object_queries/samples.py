"""Pictures of what the queries find at every evaluation: canvases with boxes, and where each query looked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from glassformer.files import disk, write_figure
from glassformer.runs import Run
from glassformer.show.theme import FILE_THEME
from glassformer.tasks.canvases import Canvases
from glassformer.tasks.object_queries.task import CanvasBatch, QueryAnswers, likeliest_objects
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 4  # canvases
GREY, ORANGE = FILE_THEME.grey, FILE_THEME.orange  # true boxes, and answers
ATTENTION = "*.cross_attention.weights"


@dataclass(frozen=True)
class ObjectSamples:
    """`Training.show` of object queries: the same canvases at every evaluation. Writes samples/step-00000500.png."""

    run: Run
    batch: CanvasBatch

    def __call__(self, model: nn.Module, step: int) -> dict[str, float]:
        batch = self.batch.to(next(model.parameters()).device)
        with record(model, ATTENTION) as trace:
            said = likeliest_objects(model(batch.images))
        looks = trace[trace.names()[-1]].mean(1)  # b q s: the last layer, its heads averaged
        with disk(self.run.samples):
            self.run.samples.mkdir(exist_ok=True)
        draw(self.batch, QueryAnswers(*(part.cpu() for part in said)), looks.cpu(), picture_file(self.run, step))
        return {}


def sample_objects(run: Run, material: Canvases) -> ObjectSamples | None:
    """At every evaluation, draw what the queries find on the first few canvases."""
    if (examples := material.validation) is None:
        return None
    return ObjectSamples(run, material.task.collate([examples[i] for i in range(min(SHOWN, len(examples)))]))


def picture_file(run: Run, step: int) -> Path:
    return run.samples / f"step-{step:08d}.png"


def draw(batch: CanvasBatch, said: QueryAnswers, looks: Tensor, path: Path) -> None:
    """A row for each canvas: true boxes (grey) and answers (orange), then the patches each query looked at."""
    from matplotlib.figure import Figure

    rows, queries, patches = looks.shape
    side = round(patches**0.5)
    size = batch.images.shape[-1]
    figure = Figure(figsize=(queries + 2, 2.1 * rows))
    grid: dict[str, Any] = {"left": 0.01, "right": 0.99, "bottom": 0.01, "top": 0.97, "wspace": 0.06, "hspace": 0.06}
    grid |= {"width_ratios": [2, *[1] * queries]}  # the canvas is drawn larger
    every = figure.subplots(rows, queries + 1, squeeze=False, gridspec_kw=grid)
    for row, (canvas, *seen) in enumerate(every):
        _picture(canvas, batch.images[row, 0])
        for label, box in zip(batch.labels[row].tolist(), batch.boxes[row] * size, strict=True):
            if label >= 0:
                _box(canvas, box, GREY)
        for query, axes in enumerate(seen):
            axes.imshow(looks[row, query].reshape(side, side).numpy(), cmap="magma", vmin=0)
            axes.set_axis_off()
            label, sureness = int(said.said[row, query]), float(said.sureness[row, query])
            axes.set_title("–" if label < 0 else f"{label}  {100 * sureness:.0f} %", fontsize=8)
            if label >= 0:
                _box(canvas, said.boxes[row, query] * size, ORANGE, str(label))
    write_figure(path, figure, durable=False)


def _picture(axes: Axes, image: Tensor) -> None:
    axes.imshow(image.numpy(), cmap="gray", vmin=0, vmax=1)
    axes.set_axis_off()


def _box(axes: Axes, box: Tensor, colour: str, label: str = "") -> None:
    from matplotlib.patches import Rectangle

    x, y, w, h = box.tolist()
    corner = x - w / 2 - 0.5, y - h / 2 - 0.5  # pixel 0 is drawn around 0
    axes.add_patch(Rectangle(corner, w, h, fill=False, edgecolor=colour, linewidth=1.2))
    axes.text(*corner, label, color=colour, fontsize=8, verticalalignment="bottom")
