"""Why scores are divided by √d_k, §3.2.1: what happens to dot products, softmax and gradient as d_k grows.

Claim scale-variance; the rule is in `verdicts`.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.layers.attention.kernel import attention_weights
from glassformer.layers.attention.mask import Mask
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, VerdictWord, within
from glassformer.show.drawing import bars, lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
SHOWN = (4, 64, 512)  # widths for which one query's weights are shown
PAPER = 64  # d_k of the paper's base model
KINDS = ("plain", "scaled")
KEYS = 64  # keys that a query chooses between
QUERIES = 256
DRAWN = 1024  # queries and keys for the variance: with 64 keys it would be too uncertain
SATURATED = 0.99  # above this weight softmax hardly responds to small changes
ABOUT = 0.1  # relative tolerance for the variance


def run(setup: LessonSetup) -> Data:
    """For every width, queries and keys of independent numbers with variance 1, as when training begins."""
    rows = [
        {"d_k": d_k, **{kind: _look(setup, d_k, _scale(kind, d_k)) for kind in KINDS}}
        for d_k in setup.each("d_k", WIDTHS)
    ]
    return {
        "keys": KEYS,
        "rows": rows,
        "first": rows[0],
        "paper": next(row for row in rows if row["d_k"] == PAPER),
        "last": rows[-1],
        "weights": [
            {"d_k": d_k, **{kind: _one_query(setup.seeds[0], d_k, _scale(kind, d_k)) for kind in KINDS}}
            for d_k in SHOWN
        ],
    }


def _scale(kind: str, d_k: int) -> float:
    return 1.0 if kind == "plain" else 1 / sqrt(d_k)


def _look(setup: LessonSetup, d_k: int, scale: float) -> dict[str, Any]:
    seen = [_once(seed, d_k, scale) for seed in setup.seeds]
    return {name: interval([one[name] for one in seen]) for name in seen[0]}


def _once(seed: int, d_k: int, scale: float) -> dict[str, float]:
    weights = _weights(seed, d_k, scale, QUERIES)
    slopes = _slopes(weights)
    return {
        "variance": _variance(seed, d_k, scale),
        "entropy": float(_entropy(weights).mean()),
        "largest": float(weights.amax(-1).mean()),
        "saturated": float((weights.amax(-1) > SATURATED).double().mean()),
        "gradient": float(slopes.mean()),
        "gradient_median": float(slopes.median()),
        "gradient_product": scale * float(slopes.mean()),
    }


def _variance(seed: int, d_k: int, scale: float) -> float:
    random = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, DRAWN, d_k, generator=random, dtype=torch.float64)  # t d_k
    return float((q * scale @ k.T).var())


def _weights(seed: int, d_k: int, scale: float, queries: int) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    k = torch.randn(1, 1, KEYS, d_k, generator=random, dtype=torch.float64)  # b h s d_k
    q = torch.randn(1, 1, queries, d_k, generator=random, dtype=torch.float64)  # b h t d_k
    return attention_weights(q, k, Mask(), bias=None, scale=scale)  # b h t s


def _one_query(seed: int, d_k: int, scale: float) -> list[float]:
    """The weights of one query on all keys, largest first."""
    weights: list[float] = _weights(seed, d_k, scale, 1)[0, 0, 0].sort(descending=True).values.tolist()
    return weights


def _entropy(weights: Tensor) -> Tensor:
    """H = − Σ_s w_s log₂ w_s: log₂ of how many keys a query really looks at."""
    return -torch.xlogy(weights, weights).sum(-1) / torch.log(torch.tensor(2.0))  # b h t


def _slopes(weights: Tensor) -> Tensor:
    """The norm of softmax's Jacobian, diag(w) − w wᵀ, for each query: how the weights respond to softmax's input.

    Their response to the dot product q·k is this times the scale (`gradient_product`): the division makes it smaller.
    """
    jacobian = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)  # b h t s s
    return torch.linalg.matrix_norm(jacobian)  # b h t


def verdicts(data: Data) -> dict[str, Verdict]:
    """The sides are the widths. On each, the plain variance is d_k and the scaled one is 1, both within 10 %.

    Softmax and gradient are shown but not judged: the claim is about the variance.
    """
    sides = {str(row["d_k"]): _verdict_row(row) for row in data["rows"]}
    last, middle = data["rows"][-1], next(row for row in data["rows"] if row["d_k"] == PAPER)
    measured = {
        "d_k": last["d_k"],
        "paper": PAPER,
        **{kind: last[kind]["variance"]["mean"] for kind in KINDS},
        **{f"interval_{kind}": _verdict_ends(last[kind]["variance"]) for kind in KINDS},
        **{f"gradient_{kind}": last[kind]["gradient"]["mean"] for kind in KINDS},
        **{f"middle_{kind}": middle[kind]["gradient"]["mean"] for kind in KINDS},
    }
    return {"scale-variance": Verdict.of(sides, measured)}


def _verdict_row(row: Data) -> dict[str, VerdictWord]:
    grows = within(row["plain"]["variance"], (1 - ABOUT) * row["d_k"], (1 + ABOUT) * row["d_k"])
    return {"grows": grows, "stays": within(row["scaled"]["variance"], 1 - ABOUT, 1 + ABOUT)}


def _verdict_ends(effect: Data) -> dict[str, float]:
    return {end: effect[end] for end in ("low", "high")}


SHOWN_KEYS = 10  # keys of a query, heaviest first


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Three panels over the same d_k; below, one query's softmax at three of them."""
    shown = data.get("weights", ())  # an older result may have none
    figure = theme.figure(10, 6.6 if shown else 3.6)
    panels = figure.subplots(2 if shown else 1, 3, squeeze=False)
    upper = panels[0]
    widths = [row["d_k"] for row in data["rows"]]
    for axes, name in zip(upper, ("variance", "entropy", "gradient"), strict=True):
        curves = {words(kind): [row[kind][name]["mean"] for row in data["rows"]] for kind in KINDS}
        lines(axes, theme, widths, curves)
        logarithmic(axes, "x", base=2)
        axes.set(title=words(name), xlabel="d_k")
        if name == "variance":
            logarithmic(axes)
        else:
            axes.set_ylim(bottom=0)
    for axes, found in zip(panels[-1], shown, strict=bool(shown)):
        largest = {words(kind): found[kind][:SHOWN_KEYS] for kind in KINDS}
        bars(axes, theme, [str(place + 1) for place in range(SHOWN_KEYS)], largest, printed=False, form=".3f")
        axes.set_ylim(0, 1)
        axes.set(title=words("softmax", d_k=found["d_k"]), xlabel=words("keys", count=SHOWN_KEYS))
        if axes is panels[-1][0]:
            axes.set_ylabel(words("weight"))
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("scale-variance",),
    equation=r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V",
    formula="Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V",
    paper="§3.2.1, Eq. (1)",
    sources=("layers/attention/kernel.py",),
)
