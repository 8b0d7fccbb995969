"""Cross-attention without translation: learned queries ask an image what is on it and where, as in DETR."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from glassformer.data.canvases import DARKEST, Plan
from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.stacks.cross_attention_elsewhere_picture import draw
from glassformer.loading import Loaded
from glassformer.metrics.boxes import claim
from glassformer.tasks.object_queries import Answers, CanvasBatch, ObjectQueries, answers
from glassformer.trace.record import record

CANVASES = 200
SHOWN = 4  # queries whose maps are drawn: those that found a digit
POINTS = 40  # centres of each query


def run(desk: Desk) -> Data:
    """The trained queries on held-out canvases: one of them in full, and over all of them where the queries look."""
    loaded = desk.model("object-queries")
    batch = _batch(loaded, desk.some(CANVASES, 8))
    with torch.no_grad(), record(loaded.model, "decoder.*.cross_attention.weights") as trace:
        said = answers(loaded.model(batch.images))
    maps = trace.attention("cross_attention")[-1].mean(1)  # b q patches, of the last layer
    claims = claim(*said, batch.labels, batch.boxes)
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
    examples = Plan.of(loaded.config.data).examples("validation")
    task = ObjectQueries.make(loaded.config)
    return task.collate([examples[i] for i in range(min(count, len(examples)))])


def _inside(maps: Tensor, said: Answers) -> tuple[float, float]:
    """Of what a query that answers looks at, the share inside its own box; and how much of the canvas that box is."""
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
    """Of every interval between two edges, the share between low and high."""
    begin, end = torch.maximum(edges[:-1], low[:, None]), torch.minimum(edges[1:], high[:, None])  # n side
    return (end - begin).clamp(min=0) / (edges[1] - edges[0])


def _example(batch: CanvasBatch, said: Answers, maps: Tensor, right: Tensor) -> dict[str, Any]:
    """The canvas with the most digits found and the fewest wrong answers, and what its queries say."""
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


def _centres(said: Answers, query: int) -> list[list[float]]:
    """Where one query has found things: x and y."""
    return said.boxes[:, query, :2][said.said[:, query] >= 0][:POINTS].tolist()


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
