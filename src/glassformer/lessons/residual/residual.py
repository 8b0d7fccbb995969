"""The "Add" of Add & Norm, §3.1: what a layer that learned nothing does, and how much gradient reaches the first layer.

Claims residual-identity and residual-gradient; the rules stand in `verdicts`.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.residual.residual_depths import depths
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, greater
from glassformer.models.block import EncoderBlock
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


REPORTED = 600.0  # times
EPS = 1e-5


def run(setup: LessonSetup) -> Data:
    """Blocks whose last matrices are 0; then decoders of every depth, with and without "Add"."""
    return {"identity": identity(), "reported": REPORTED, **depths(setup)}


def identity() -> dict[str, Any]:
    """max |block(x) − x| of a block whose two last matrices are 0, for each order; x is no normalised stream."""
    x = 3 * torch.randn(2, 8, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 1  # b t d_model
    blocks = {order: _silent(order) for order in ("pre", "parallel", "post")}
    post = blocks["post"]
    return {
        **{order: _apart(block(x), x) for order, block in blocks.items()},
        "post_normalised": _apart(post(x), _normalise(x)),
        "post_twice": _apart(post(_normalise(x)), _normalise(x)),
        "size": float(x.abs().max()),
        "eps": EPS,
    }


@torch.no_grad()
def _silent(order: str) -> EncoderBlock:
    block = EncoderBlock(d_model=64, n_heads=4, d_ff=256, norm_order=order, eps=EPS).double()
    for matrix in (block.self_attention.w_o, block.feed_forward.w_2):
        matrix.weight.zero_()
        matrix.bias.zero_()
    return block


def _normalise(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / x.var(-1, unbiased=False, keepdim=True).sqrt()


def _apart(y: Tensor, x: Tensor) -> float:
    return float((y - x).detach().abs().max())


def verdicts(data: Data) -> dict[str, Verdict]:
    """residual-identity: x + 0 is x, so it is exact and the tolerance is 0. The sides are the orders of the norm.

    residual-gradient: "Add" raises the first layer's gradient over 600 times (interval of the ratio over seeds). The
    sides are every order, with every depth from 2 on.
    """
    found = data["identity"]
    passed = {order: exact(found[order] == 0.0) for order in ("pre", "parallel", "post")}
    return {"residual-identity": Verdict.of(passed, dict(found)), "residual-gradient": verdict_gradient(data)}


def verdict_gradient(data: Data) -> Verdict:
    """See `verdicts`."""
    rows = {
        f"{order}/{row['depth']}": row for order, found in data["by_depth"].items() for row in found if row["depth"] > 1
    }
    sides = {name: greater(row["raised"], log(data["reported"])) for name, row in rows.items()}
    measured = {
        "reported": data["reported"],
        "raised": sum(greater(row["raised"]) == "confirmed" for row in rows.values()),
        "paper": data["paper"],
        "deepest": data["deepest"],
        "highest": max(rows.values(), key=lambda row: row["times"]["mean"] or 0.0),
    }
    return Verdict.of(sides, measured)


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: layers of one deep model, without norms and in pre-norm order. Below: over the depth."""
    figure = theme.figure(9.5, 7.2)
    (bare, normed), (ratio, alike) = figure.subplots(2, 2)
    numbers = list(range(1, data["shown"] + 1))
    for axes, order in ((bare, "no_norm"), (normed, "pre")):
        found = data["by_layer"][order]
        lines(axes, theme, numbers, {words(kind): found[kind] for kind in ("with", "without")})
        logarithmic(axes)
        axes.set(title=words("by_layer", order=words(order)), xlabel=words("layer", depth=data["shown"]))
    low, high = normed.get_ylim()
    normed.set_ylim(min(low, 0.1), max(high, 100))
    _ratio(ratio, data, theme, words)
    rows = data["by_depth"]["pre"]
    depths = [row["depth"] for row in rows]
    lines(alike, theme, depths, {words(kind): [row["alike"][kind] for row in rows] for kind in ("with", "without")})
    alike.set_ylim(-0.05, 1.08)
    alike.set(title=words("alike"), xlabel=words("depth"))
    return figure


def _ratio(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    depths = [row["depth"] for row in data["by_depth"]["pre"]]
    orders = ("no_norm", "pre", "post")
    lines(
        axes,
        theme,
        depths,
        {words(order): [row["times"]["mean"] for row in data["by_depth"][order]] for order in orders},
    )
    axes.axhline(data["reported"], color=theme.muted, linestyle=":", linewidth=1.2)
    text = words("reported", times=f"{data['reported']:g}")
    at = (depths[-1], data["reported"])
    axes.annotate(text, at, (0, 3), textcoords="offset points", ha="right", fontsize=9, color=theme.muted)
    logarithmic(axes)
    axes.set(title=words("ratio"), xlabel=words("depth"))


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("residual-identity", "residual-gradient"),
    equation=r"x_{l+1}=x_l+f(x_l),\qquad \frac{\partial x_{l+1}}{\partial x_l}=I+\frac{\partial f}{\partial x_l}",
    formula="x_(l+1) = x_l + f(x_l),   ∂x_(l+1)/∂x_l = I + ∂f/∂x_l",
    paper="§3.1",
    sources=("layers/residual.py", "models/block.py"),
    picture="residual_effects",
)
