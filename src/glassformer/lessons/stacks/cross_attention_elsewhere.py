"""Cross-attention without translation: learned queries find the objects in an image, as in DETR.

Prompts ask for one of them: a point on the image, as in SAM, or a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.data.canvases import DARKEST, CanvasPlan
from glassformer.data.prompts import PointPrompt, PromptKind
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.loading import Loaded
from glassformer.metrics.boxes import match_boxes
from glassformer.show.drawing import colour_bar, heat, hover, pixels
from glassformer.show.theme import Theme
from glassformer.tasks.object_queries.task import CanvasBatch, ObjectQueries, QueryAnswers, likeliest_objects
from glassformer.tasks.prompted_objects.task import PromptBatch, PromptedObjects, asked_canvases, is_right
from glassformer.trace.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CANVASES = 200
SHOWN = 4  # maps drawn, of queries that found a digit
POINTS = 40  # centres drawn per query
LOOKS = "decoder.*.cross_attention.weights"


def run(setup: LessonSetup) -> Data:
    """The trained queries on held-out canvases: one canvas in full, and where the queries look over all canvases.

    Then the same of a model that is prompted.
    """
    loaded = setup.model("objects")
    batch = _batch(loaded, setup.some(CANVASES, 8))
    with torch.no_grad(), record(loaded.model, LOOKS) as trace:
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
        "prompts": _prompted(setup.model("prompts"), setup.some(CANVASES, 8)),
    }


def _prompted(loaded: Loaded, canvases: int) -> dict[str, Any]:
    """For each kind of prompt: the share of right answers beside chance, where it looks, and one canvas in full."""
    task, examples = PromptedObjects.make(loaded.config), asked_canvases(loaded.config, "validation")
    batch = task.collate([examples[i] for i in range(min(canvases, len(examples)))])
    with torch.no_grad(), record(loaded.model, LOOKS) as trace:
        answers = likeliest_objects(task.answers(loaded.model, batch))  # b k
    looks = trace.attention("cross_attention")[-1].mean(1)[:, -1]  # b·k patches: last layer, where a prompt ends
    maps, right = looks.view(*answers.said.shape, -1), is_right(answers, batch)  # b k patches, b k
    found = {}
    for number, (kind, prompt) in enumerate(task.kinds.items()):
        of_kind = QueryAnswers(*(part[:, number, None] for part in answers))  # b 1
        inside, area = _inside(maps[:, number, None], of_kind)
        found[kind] = {
            "asked": len(batch.images),
            "right": float(right[:, number].double().mean()),
            "chance": float((1 / batch.digits).mean()),
            "inside": inside,
            "area": area,
            "example": _prompt_example(prompt, batch, number, answers, maps, right),
        }
    return found


def _prompt_example(
    prompt: PromptKind, batch: PromptBatch, number: int, answers: QueryAnswers, maps: Tensor, right: Tensor
) -> dict[str, Any]:
    """A canvas with as many digits as possible and, if there is one, a right answer. A word is in English."""
    read = [prompt.read(tokens) for tokens in batch.prompts[:, number].tolist()]
    readable = torch.tensor([each.isascii() for each in read])  # b
    best = int(((batch.digits[:, 0] + CANVASES * right[:, number]) * readable).argmax())
    x, y = batch.prompts[best, number].tolist()
    return {
        "image": _pixels(batch.images[best]),
        "prompt": read[best],
        "point": [x, y - batch.images.shape[-1]] if isinstance(prompt, PointPrompt) else None,
        "answers": [_answer(answers, maps, best, number)],
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
    answering = [q for q in range(maps.shape[1]) if int(said.said[best, q]) >= 0]
    return {
        "image": _pixels(batch.images[best]),
        "digits": [int(label) for label in batch.labels[best] if label >= 0],
        "answers": [_answer(said, maps, best, q) for q in answering[:SHOWN]],
    }


def _pixels(image: Tensor) -> list[list[int]]:
    found: list[list[int]] = (image[0] * DARKEST).round().int().tolist()
    return found


def _answer(said: QueryAnswers, maps: Tensor, row: int, query: int) -> dict[str, Any]:
    side = int(maps.shape[-1] ** 0.5)
    return {
        "query": query,
        "digit": int(said.said[row, query]),
        "sureness": float(said.sureness[row, query]),
        "box": said.boxes[row, query].tolist(),
        "map": maps[row, query].view(side, side).tolist(),
    }


def _centres(said: QueryAnswers, query: int) -> list[list[float]]:
    """The centres x, y of what one query has found."""
    return said.boxes[:, query, :2][said.said[:, query] >= 0][:POINTS].tolist()


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: the canvas and the centres of all queries; then a map for each query that answered; below: prompts."""
    figure = theme.figure(10, 9.6)
    parts: Any = figure.subfigures(3, 1, height_ratios=(1.25, 1, 1))
    upper, middle, lower = parts
    left, right = upper.subplots(1, 2)
    found = data["example"]["answers"]
    _canvas(left, theme, data["example"], named=True)
    left.set_title(words("canvas"))
    _places(right, theme, words, data)
    panels = middle.subplots(1, max(len(found), 1), squeeze=False)[0]
    titles = [words("query", n=one["query"] + 1, digit=one["digit"], p=one["sureness"]) for one in found]
    _maps(panels, theme, words, found, titles)
    panels = lower.subplots(1, 2 * len(data["prompts"]))
    asked = [each["example"] for each in data["prompts"].values()]
    for axes, kind, example in zip(panels[::2], data["prompts"], asked, strict=True):
        _canvas(axes, theme, example)
        axes.set_title(words(kind, prompt=example["prompt"]), fontsize=9)
    found = [example["answers"][0] for example in asked]
    titles = [words("answer", digit=one["digit"], p=one["sureness"]) for one in found]
    _maps(panels[1::2], theme, words, found, titles)
    return figure


def _canvas(axes: Axes, theme: Theme, example: dict[str, Any], named: bool = False) -> None:
    """A canvas with the boxes that were answered, and the point that was asked about."""
    image = example["image"]
    pixels(axes, theme, [[value / DARKEST for value in row] for row in image])
    _bare(axes)
    for answer in example["answers"]:
        _frame(axes, theme, answer, len(image), named=named)
    if example.get("point") is not None:
        axes.plot(*([at] for at in example["point"]), marker="X", markersize=9, color=theme.series[1], linestyle="")


def _maps(
    panels: Sequence[Axes], theme: Theme, words: PictureWords, found: list[dict[str, Any]], titles: list[str]
) -> None:
    """A heat map for each answer, on one scale, with its box."""
    most = max((value for answer in found for row in answer["map"] for value in row), default=1.0)
    for axes, answer, title in zip(panels, found, titles, strict=False):
        heat(axes, theme, answer["map"], form=".3f", most=most, bar=None)
        _frame(axes, theme, answer, len(answer["map"]))
        _bare(axes)
        axes.set_title(title, fontsize=9)
    colour_bar(panels, theme, most, label=words("weight"))


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
    models=("objects", "prompts"),
    equation=r"\mathrm{CrossAttention}(X,M)=\mathrm{softmax}\!\left(\frac{(XW_Q)(MW_K)^{\top}}{\sqrt{d_k}}\right)MW_V",
    formula="CrossAttention(X, M) = softmax((X W_Q)(M W_K)ᵀ / √d_k) M W_V",
    paper="§3.2.3",
    sources=("layers/queries.py", "data/prompts.py", "layers/head/objects.py", "models/encoder_decoder.py"),
)
