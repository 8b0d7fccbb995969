"""나는 학교에 간다 through one attention of the paper's base model, number by number; then a second sentence.

Claim worked-shapes; the rule is in `verdicts`.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.models.presets import PRESETS
from glassformer.show.drawing import colour_bar, heat
from glassformer.show.theme import Theme
from glassformer.trace.sentence import Story, follow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODEL = "paper-base"
SENTENCE = "나는 학교에 간다"  # I go to school
ASKING = "나는 Transformer를 공부한다"  # I study the Transformer
LAYER = "encoder.blocks.0.self_attention"
SHOWN = 32  # of a token's 512 numbers
HEAD = 0
# what the claim states: the tensors and their shapes, heads × tokens × numbers
CLAIMED = {
    "input": [3, 512],
    "q": [8, 3, 64],
    "k": [8, 3, 64],
    "v": [8, 3, 64],
    "scores": [8, 3, 3],
    "weights": [8, 3, 3],
    "heads": [8, 3, 64],
    "concat": [3, 512],
    "output": [3, 512],
}


def run(setup: LessonSetup) -> Data:
    """The base model before training: its numbers are random, its shapes are those of every base model."""
    seed = setup.seeds[0]
    story = follow(MODEL, PRESETS[MODEL](), SENTENCE, seed=seed)
    stations = _stations(story)
    return {
        "model": MODEL,
        "seed": seed,
        "tokens": story.tokens,
        "shapes": {name: list(x.shape) for name, x in stations.items()},
        "written": {name: _written(list(x.shape)) for name, x in stations.items()},
        "numbers": {name: _first(x) for name, x in stations.items()},
        "by_hand": _by_hand(stations),
        "question": _question(setup, seed),
    }


def _stations(story: Story) -> dict[str, Tensor]:
    """Every tensor on the way, without the batch; concat is the input of W_O."""
    recorded = {name: story.trace[f"{LAYER}.{name}"][0] for name in ("q", "k", "v", "scores", "weights", "heads")}
    return {
        "input": story.trace["encoder.input"][0],  # t d_model
        **recorded,  # h t …
        "concat": recorded["heads"].transpose(0, 1).flatten(1),  # t d_model
        "output": story.trace[f"{LAYER}.output"][0],  # t d_model
    }


def _written(shape: list[int]) -> str:
    """8×(3×64): 8 heads, each of 3 rows and 64 columns."""
    inner = "×".join(map(str, shape[-2:]))
    return inner if len(shape) == 2 else f"{shape[0]}×({inner})"


def _first(x: Tensor) -> list[Any]:
    """The first numbers of every token, in the first head if there are heads; of the weights all heads."""
    return x.tolist() if x.shape[-1] <= x.shape[-2] else (x[HEAD] if x.dim() == 3 else x)[:, :SHOWN].tolist()


def _by_hand(stations: dict[str, Tensor]) -> dict[str, float]:
    """Eq. (1) again from the recorded Q, K, V alone, and one score added up term by term."""
    q, k, v = (stations[name].double() for name in ("q", "k", "v"))
    d_k = q.shape[-1]
    heads = (q @ k.transpose(-2, -1) / sqrt(d_k)).softmax(-1) @ v  # h t d_v
    dot = float(sum(a * b for a, b in zip(q[HEAD, -1].tolist(), k[HEAD, 1].tolist(), strict=True)))
    exps = stations["scores"][HEAD, -1].double().exp()
    return {
        "dot": dot,
        "d_k": d_k,
        "root": sqrt(d_k),
        "score": dot / sqrt(d_k),
        "weight": float(exps[1] / exps.sum()),
        "error": float((heads - stations["heads"]).abs().max()),
    }


def _question(setup: LessonSetup, seed: int) -> dict[str, Any]:
    """The weights of the last word in every head, in the untrained base model and in a trained translator."""
    untrained = follow(MODEL, PRESETS[MODEL](), ASKING, seed=seed)
    loaded = setup.model("ko-en")
    trained = follow("ko-en", loaded.config.model, ASKING, trained=loaded.reader())
    last = loaded.config.model.encoder_layers - 1
    read = trained.trace[f"encoder.blocks.{last}.self_attention.weights"][0]  # h t t
    asked = len(trained.tokens) - 2  # the last piece of the last word, before eos
    return {
        "tokens": untrained.tokens,
        "untrained": untrained.trace[f"{LAYER}.weights"][0, :, -1].tolist(),
        "pieces": trained.tokens,
        "trained": read[:, asked].tolist(),
        "asks": trained.tokens[asked],
        "value_norms": torch.linalg.vector_norm(untrained.trace[f"{LAYER}.v"][0], dim=-1).mean(0).tolist(),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """Exact: every recorded shape is the one stated in the claim."""
    same = {name: data["shapes"].get(name) == shape for name, shape in CLAIMED.items()}
    measured = {**data["written"], "stations": len(CLAIMED), "right": sum(same.values())}
    return {"worked-shapes": Verdict.of(exact(all(same.values())), measured)}


STRIPS = ("input", "q", "k", "v", "heads", "output")
TERMS = 4  # terms of the dot product that are written out


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """From top to bottom: X; Q, K, V; scores, weights, heads; one score by hand; W_O; the second sentence."""
    figure = theme.figure(10, 9.4)
    parts: Any = figure.subfigures(2, 1, height_ratios=(3.6, 1))
    _draw_stations(parts[0], data, theme, words)
    panels = parts[1].subplots(1, 2)
    for axes, which in zip(panels, ("untrained", "trained"), strict=True):
        _draw_question(axes, theme, words, which, data["question"])
    colour_bar(panels, theme, 1.0, label=words("weight"))
    return figure


def _draw_stations(figure: Any, data: Data, theme: Theme, words: PictureWords) -> None:
    """Every tensor on one colour scale, except the weights, which are shares."""
    grid = figure.add_gridspec(5, 6, height_ratios=[1, 1, 1.7, 1.1, 1])
    tokens, numbers, shapes = data["tokens"], data["numbers"], data["written"]
    most = max(abs(value) for name in STRIPS for row in numbers[name] for value in row)
    strips = []

    def strip(axes: Axes, name: str, labelled: bool = True) -> None:
        heat(axes, theme, numbers[name], rows=tokens if labelled else None, most=most, bar=None)
        axes.set_title(words(name, shape=shapes[name]))
        axes.set_xticks([])
        if not labelled:
            axes.set_yticks([])
        strips.append(axes)

    strip(figure.add_subplot(grid[0, :]), "input")
    for place, name in enumerate(("q", "k", "v")):
        strip(figure.add_subplot(grid[1, 2 * place : 2 * place + 2]), name, labelled=place == 0)
    for place, (name, full) in enumerate((("scores", most), ("weights", 1.0))):
        axes = figure.add_subplot(grid[2, 2 * place : 2 * place + 2])
        square: list[list[float]] = numbers[name][0]
        heat(
            axes, theme, square, rows=tokens if place == 0 else None, columns=tokens, most=full, printed=True, bar=None
        )
        axes.set_title(words(name, shape=shapes[name]))
        if place:
            axes.set_yticks([])
        strips.append(axes)
    strip(figure.add_subplot(grid[2, 4:]), "heads", labelled=False)
    _draw_by_hand(figure.add_subplot(grid[3, :]), data, theme, words)
    strip(figure.add_subplot(grid[4, :]), "output")
    colour_bar(strips, theme, most, least=-most, label=words("number"))


def _draw_by_hand(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """One dot product written out: the first terms, the sum, the division, softmax of its row."""
    q, k = data["numbers"]["q"][-1], data["numbers"]["k"][1]
    found, row = data["by_hand"], data["numbers"]["scores"][0][-1]
    terms = " + ".join(f"{_signed(a)}·{_signed(b)}" for a, b in zip(q[:TERMS], k[:TERMS], strict=True))
    names = {"asks": data["tokens"][-1], "answers": data["tokens"][1]}
    exps = " + ".join(f"e^{value:.2f}" for value in row)
    lines = (
        words("dot", **names, terms=terms, left=found["d_k"] - TERMS, dot=f"{found['dot']:.2f}"),
        words("divided", d_k=found["d_k"], root=f"{found['root']:g}", dot=f"{found['dot']:.2f}", score=f"{row[1]:.2f}"),
        words("shared", score=f"{row[1]:.2f}", exps=exps, weight=f"{found['weight']:.2f}"),
    )
    for place, line in enumerate(lines):
        axes.text(0, 0.82 - 0.36 * place, line, va="center", fontsize=10, color=theme.ink, parse_math=False)
    axes.set_axis_off()


def _signed(value: float) -> str:
    return f"({value:.2f})" if value < 0 else f"{value:.2f}"


def _draw_question(axes: Axes, theme: Theme, words: PictureWords, which: str, question: dict[str, Any]) -> None:
    """A row for each head: how much the last word looks at each token."""
    columns = question["tokens"] if which == "untrained" else [piece.replace("▁", "") for piece in question["pieces"]]
    matrix = question[which]
    asks = question["tokens"][-1] if which == "untrained" else question["asks"].replace("▁", "")
    heat(axes, theme, matrix, rows=[str(head + 1) for head in range(len(matrix))], columns=columns, most=1.0, bar=None)
    axes.set_xticks(range(len(columns)), columns, rotation=0, ha="center")
    axes.set(title=words(which, asks=asks), ylabel=words("head"))


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("worked-shapes",),
    models=("ko-en",),
    equation=r"\mathrm{MultiHead}(Q,K,V)=\mathrm{Concat}(\mathrm{head}_1,\ldots,\mathrm{head}_h)W_O,\quad"
    r"\mathrm{head}_i=\mathrm{Attention}(XW_{Q,i},XW_{K,i},XW_{V,i})",
    formula="MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O,  head_i = Attention(X W_Q_i, X W_K_i, X W_V_i)",
    paper="§3.2.2",
    sources=("layers/attention/multi_head.py", "layers/attention/kernel.py", "trace/sentence.py"),
)
