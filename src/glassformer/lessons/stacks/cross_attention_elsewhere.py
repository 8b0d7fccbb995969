"""Cross-attention without translation: learned queries find the objects in an image, as in DETR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.data.canvases import DARKEST, CanvasPlan
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.loading import Loaded
from glassformer.metrics.boxes import match_boxes
from glassformer.show.drawing import colour_bar, heat, hover, pixels
from glassformer.show.theme import Theme
from glassformer.tasks.object_queries.task import CanvasBatch, ObjectQueries, QueryAnswers, likeliest_objects
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CANVASES = 200
SHOWN = 4  # maps drawn, of queries that found a digit
POINTS = 40  # centres drawn per query


def run(setup: LessonSetup) -> Data:
    """The trained queries on held-out canvases: one canvas in full, and where the queries look over all canvases."""
    loaded = setup.model("object-queries")
    batch = _batch(loaded, setup.some(CANVASES, 8))
    with torch.no_grad(), record(loaded.model, "decoder.*.cross_attention.weights") as trace:
        said = likeliest_objects(loaded.model(batch.images))
    maps = trace.attention("cross_attention")[-1].mean(1)  # b q patches, last layer
    claims = match_boxes(*said, batch.labels, batch.boxes)
    inside, area = _inside(maps, said)
    return {
        "queries": loaded.config.model.queries,
        "canvases": len(batch.images),
        "digits": batch.count,
        "found": float(claims.found.sum()) / batch.count,
        "inside": inside,
        "area": area,
        "example": _example(batch, said, maps, claims.right),
        "centres": [_centres(said, query) for query in range(said.said.shape[1])],
    }


def _batch(loaded: Loaded, count: int) -> CanvasBatch:
    examples = CanvasPlan.of(loaded.config.data).examples("validation")
    task = ObjectQueries.make(loaded.config)
    return task.collate([examples[i] for i in range(min(count, len(examples)))])


def _inside(maps: Tensor, said: QueryAnswers) -> tuple[float, float]:
    """The mean share of an answering query's weight inside its own box, and that box's mean share of the canvas."""
    side = int(maps.shape[-1] ** 0.5)
    edges = torch.arange(side + 1) / side
    answering = said.said >= 0  # b q
    if not bool(answering.any()):
        return 0.0, 0.0
    cx, cy, w, h = said.boxes[answering].unbind(-1)  # n
    across = _covered(edges, cx - w / 2, cx + w / 2)  # n side
    down = _covered(edges, cy - h / 2, cy + h / 2)  # n side
    cover = (down[:, :, None] * across[:, None, :]).flatten(1)  # n patches: the share of each patch in the box
    return float((maps[answering] * cover).sum(1).mean()), float(cover.mean())


def _covered(edges: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """The share of every interval between two edges that lies between low and high."""
    begin, end = torch.maximum(edges[:-1], low[:, None]), torch.minimum(edges[1:], high[:, None])  # n side
    return (end - begin).clamp(min=0) / (edges[1] - edges[0])


def _example(batch: CanvasBatch, said: QueryAnswers, maps: Tensor, right: Tensor) -> dict[str, Any]:
    """The canvas with the most digits found and the fewest wrong answers, with its queries' answers."""
    wrong = ((said.said >= 0) & ~right).sum(1)  # b
    best = int((right.sum(1) - wrong).argmax())
    side = int(maps.shape[-1] ** 0.5)
    answering = [q for q in range(maps.shape[1]) if int(said.said[best, q]) >= 0]
    return {
        "image": (batch.images[best, 0] * DARKEST).round().int().tolist(),
        "digits": [int(label) for label in batch.labels[best] if label >= 0],
        "answers": [
            {
                "query": q,
                "digit": int(said.said[best, q]),
                "sureness": float(said.sureness[best, q]),
                "box": said.boxes[best, q].tolist(),
                "map": maps[best, q].view(side, side).tolist(),
            }
            for q in answering[:SHOWN]
        ],
    }


def _centres(said: QueryAnswers, query: int) -> list[list[float]]:
    """The centres x, y of what one query has found."""
    return said.boxes[:, query, :2][said.said[:, query] >= 0][:POINTS].tolist()


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: the canvas and the centres of all queries; below: one map for each query that answered."""
    figure = theme.figure(10, 6.8)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.25, 1))
    upper, lower = parts
    left, right = upper.subplots(1, 2)
    found = data["example"]["answers"]
    image = data["example"]["image"]
    pixels(left, theme, [[value / DARKEST for value in row] for row in image])
    _bare(left)
    left.set_title(words("canvas"))
    for answer in found:
        _frame(left, theme, answer, len(image), named=True)
    _places(right, theme, words, data)
    panels = lower.subplots(1, max(len(found), 1), squeeze=False)[0]
    most = max((value for answer in found for row in answer["map"] for value in row), default=1.0)
    for axes, answer in zip(panels, found, strict=False):
        heat(axes, theme, answer["map"], form=".3f", most=most, bar=None)
        _frame(axes, theme, answer, len(answer["map"]))
        _bare(axes)
        axes.set_title(words("query", n=answer["query"] + 1, digit=answer["digit"], p=answer["sureness"]), fontsize=9)
    colour_bar(panels, theme, most, label=words("weight"))
    return figure


def _look(theme: Theme, query: int) -> tuple[str, str, bool]:
    """Colour, mark, and whether it is hollow: the same for a query in every panel."""
    return theme.series[query % 6], theme.markers[query % 6], query >= 6


def _bare(axes: Axes) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)


def _frame(axes: Axes, theme: Theme, answer: dict[str, Any], side: int, named: bool = False) -> None:
    """The box that a query predicts; `named`: with its number."""
    from matplotlib.patches import Rectangle

    cx, cy, w, h = (value * side for value in answer["box"])
    colour, _, hollow = _look(theme, answer["query"])
    corner = (cx - w / 2 - 0.5, cy - h / 2 - 0.5)
    frame = Rectangle(corner, w, h, fill=False, edgecolor=colour, linewidth=2, linestyle="--" if hollow else "-")
    hover(frame, f"{answer['digit']}: {answer['sureness']:.2f}")
    axes.add_patch(frame)
    if named:
        axes.text(corner[0] + w + 0.4, corner[1], str(answer["query"] + 1), va="top", fontsize=9, color=theme.ink)


def _places(axes: Axes, theme: Theme, words: PictureWords, data: Data) -> None:
    """The centres of everything each query found, over all canvases."""
    for query, centres in enumerate(data["centres"]):
        if centres:
            xs, ys = zip(*centres, strict=True)
            colour, marker, hollow = _look(theme, query)
            axes.scatter(
                xs,
                ys,
                s=16,
                marker=marker,
                color=colour,
                facecolor="none" if hollow else colour,
                alpha=0.75,
                label=str(query + 1),
            )
    axes.set_xlim(0, 1)
    axes.set_ylim(1, 0)
    _bare(axes)
    axes.legend(title=words("number"), loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8)
    axes.set_title(words("places"))


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    models=("object-queries",),
    equation=r"\mathrm{CrossAttention}(X,M)=\mathrm{softmax}\!\left(\frac{(XW_Q)(MW_K)^{\top}}{\sqrt{d_k}}\right)MW_V",
    formula="CrossAttention(X, M) = softmax((X W_Q)(M W_K)ᵀ / √d_k) M W_V",
    paper="§3.2.3",
    sources=("layers/queries.py", "layers/head/objects.py", "models/encoder_decoder.py"),
)
