"""A translation token by token: where the decoder looked, the other candidates, the tree of the beam search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from glassformer.decoding.beam import Beams, beam_trees
from glassformer.decoding.limits import Limits
from glassformer.decoding.tree import ROOT, Tree
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.sentences import without_space_mark
from glassformer.lessons.texts import PictureWords
from glassformer.loading import Loaded
from glassformer.show.drawing import heat, hover
from glassformer.show.theme import Theme
from glassformer.tasks.output_ids import forbidden_ids
from glassformer.text import Tokenizer
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SENTENCE = "우리 고양이는 학교에서 Transformer를 가르친다"  # teaches whom? the corpus always says it
BEAM = 3
CANDIDATES = 3
LONGEST = 24  # tokens: a hardly trained model does not know when to stop


def run(setup: LessonSetup) -> Data:
    """A recorded beam search of the trained translator; then its best sentence again, with attention recorded."""
    loaded = setup.model("ko-en")
    target, special = loaded.vocabularies.target, loaded.vocabularies.target.specials
    read = loaded.reader().source(SENTENCE)
    limits = Limits(eos=special.need("eos"), bos=loaded.start, forbidden=forbidden_ids(special), max_len=LONGEST)
    best, trees = beam_trees(loaded.model, read.ids, limits=limits, beams=Beams(width=BEAM), n_best=BEAM)
    written = best[0][0]
    return {
        "sentence": SENTENCE,
        "source": [*map(without_space_mark, read.tokens)],
        "translation": target.decode(written.tokens),
        "translations": [{"text": target.decode(one.tokens), "score": one.score} for one in best[0]],
        "beam": BEAM,
        **_look(loaded, read.ids, [*written.tokens, special.need("eos")] if written.finished else written.tokens),
        "tree": _tree(trees[0], target),
    }


def _look(loaded: Loaded, ids: torch.Tensor, tokens: list[int]) -> dict[str, Any]:
    """At each step: the weights over the source when choosing the token, and the likeliest candidates."""
    given = torch.tensor([[loaded.start, *tokens[:-1]]])  # 1 t
    with torch.no_grad(), record(loaded.model, "decoder.*.cross_attention.weights") as trace:
        logits = loaded.model(ids, given)[0]  # t v
    weights = torch.stack([one[0].mean(0) for one in trace.attention("cross_attention")]).mean(0)  # t s
    piece = loaded.vocabularies.target.piece
    steps: list[dict[str, Any]] = []
    for row, token in zip(logits.softmax(-1), tokens, strict=True):
        likeliest = row.topk(CANDIDATES)
        steps.append(
            {
                "token": without_space_mark(piece(token)),
                "probability": float(row[token]),
                "entropy": float(-torch.xlogy(row, row).sum() / torch.log(torch.tensor(2.0))),
                "candidates": [
                    {"token": without_space_mark(piece(int(i))), "probability": float(p)}
                    for p, i in zip(likeliest.values, likeliest.indices, strict=True)
                ],
            }
        )
    return {
        "steps": steps,
        "weights": weights.tolist(),
        "unsure": min(steps, key=lambda step: float(step["probability"])),
        "written": len(steps),
    }


def _tree(tree: Tree, target: Tokenizer) -> dict[str, Any]:
    """The nodes that were continued, ended, or were among the best of their step; the path to the result is marked."""
    way = set()
    node = tree.results[0]
    while node != ROOT:
        way.add(node)
        node = tree.nodes[node].parent
    nodes = [
        {
            "token": without_space_mark(target.piece(node.token)),
            "parent": node.parent,
            "probability": float(torch.tensor(node.log_probability).exp()),
            "cumulative": node.cumulative,
            "step": node.step,
            "fate": node.fate,
            "way": number in way,
        }
        for number, node in enumerate(tree.nodes)
    ]
    counts = {fate: sum(node["fate"] == fate for node in nodes) for fate in ("kept", "finished", "pruned")}
    return {"nodes": nodes, "count": len(nodes), **counts}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """The map and the candidates share their rows; the tree grows below them from left to right."""
    figure = theme.figure(10, 8.6)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1.2, 1))
    upper, lower = parts
    left, right = upper.subplots(1, 2, width_ratios=(1.1, 1))
    rows = [step["token"] for step in data["steps"]]
    heat(left, theme, data["weights"], rows=rows, columns=data["source"], most=1.0, bar=words("weight"))
    left.tick_params(labelsize=8.5)
    left.set_title(words("looked"))
    left.set_ylabel(words("writes"), fontsize=9)
    _candidates(right, theme, words, data)
    _draw_tree(lower.subplots(), theme, words, data["tree"])
    return figure


def _candidates(axes: Axes, theme: Theme, words: PictureWords, data: Data) -> None:
    """A bar of probability for each step, divided among the candidates."""
    for row, step in enumerate(data["steps"]):
        begin = 0.0
        for rank, found in enumerate(step["candidates"]):
            wide = found["probability"]
            (bar,) = axes.barh(row, wide, 0.82, begin, color=(theme.series[rank], 0.4))
            hover(bar, f"{found['token']}: {wide:.3f}")
            if wide > 0.09:
                axes.text(begin + wide / 2, row, f"{found['token']} {wide:.2f}", ha="center", va="center", fontsize=8)
            begin += wide
    axes.set_ylim(len(data["steps"]) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.set_title(words("candidates"))


def _draw_tree(axes: Axes, theme: Theme, words: PictureWords, tree: Data) -> None:
    """The finished sentences, one per row, the best on top; the tree forks where they part."""
    nodes = tree["nodes"]
    places = _places(nodes)
    for number, (x, y) in places.items():
        node = nodes[number]
        if node["parent"] in places:
            _branch(axes, theme, places[node["parent"]], (x, y), node["way"])
        text = axes.text(x, y, _short(node["token"]), ha="center", va="center", fontsize=9, color=theme.ink, zorder=3)
        edge = theme.vermilion if node["way"] else theme.green if node["fate"] == "finished" else theme.muted
        text.set_bbox({"boxstyle": "round,pad=0.3", "facecolor": theme.paper, "edgecolor": edge})
        hover(
            text,
            f"{node['token']}: p {node['probability']:.3f}, Σ log p {node['cumulative']:.2f}, {words(node['fate'])}",
        )
        chance = f"{node['probability']:.2f}"
        axes.text(x, y - 0.36, chance, ha="center", va="center", fontsize=8, color=theme.muted)
        if node["fate"] == "finished":
            said = words("sum", value=f"{node['cumulative']:.2f}")
            axes.text(x + 0.5, y, said, ha="left", va="center", fontsize=9, color=theme.ink)
    steps = max(x for x, _ in places.values())
    axes.set_xlim(0.4, steps + 1.7)
    axes.set_ylim(min(y for _, y in places.values()) - 0.6, 0.5)
    axes.axis("off")
    axes.set_title(words("tree", shown=len(places), count=tree["count"]))


def _branch(axes: Axes, theme: Theme, parent: tuple[float, float], child: tuple[float, float], way: bool) -> None:
    """A line from the parent's right to the child's left, down first, so that it crosses no other token."""
    (px, py), (x, y) = parent, child
    bend = px + 0.5
    axes.plot(
        [px, bend, bend, x],
        [py, py, y, y],
        color=theme.vermilion if way else theme.muted,
        linewidth=2.4 if way else 1.0,
        zorder=2 if way else 1,
    )


def _short(token: str, most: int = 12) -> str:
    """As much of a token as there is room for."""
    return token if len(token) <= most else f"{token[: most - 1]}…"


def _places(nodes: list[dict[str, Any]], most: int = 4) -> dict[int, tuple[float, float]]:
    """The places of all nodes of the best `most` finished sentences: x is the step, y the sentence.

    A node shared by several sentences is in the row of the best of them.
    """
    ended = [i for i, node in enumerate(nodes) if node["fate"] == "finished"]
    if not ended:  # no sentence has ended: show the path of the result
        ended = [max((i for i, node in enumerate(nodes) if node["way"]), key=lambda i: nodes[i]["step"])]
    order = sorted(ended, key=lambda i: (not nodes[i]["way"], -nodes[i]["cumulative"]))
    places: dict[int, tuple[float, float]] = {}
    for row, number in enumerate(order[:most]):
        while number >= 0 and number not in places:
            places[number] = (float(nodes[number]["step"]), -float(row))
            number = nodes[number]["parent"]
    return places


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    models=("ko-en",),
    equation=r"p(y\mid x)=\prod_{t} p(y_t\mid y_{<t},x)",
    formula="p(y | x) = Π_t p(y_t | y_<t, x)",
    paper="§3.1, §6.1",
    sources=("decoding/beam.py", "decoding/tree.py", "models/encoder_decoder.py"),
    picture="generation_attention",
)
