"""The "Add" of Add & Norm, §3.1: what a layer that adds 0 does, and how much gradient reaches the first layer.

Claims residual-identity and residual-gradient; the rules are in `verdicts`.
"""

from __future__ import annotations

from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.config.recipe import RunConfig
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.residual.without_residual import build_stack
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, greater
from glassformer.models.block import EncoderBlock
from glassformer.show.drawing import lines, logarithmic
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DEPTHS = (1, 2, 4, 6, 8, 12, 16, 24)
PAPER = 6  # layers
SHOWN = 12  # the depth whose layers are drawn individually
ORDERS = ("post", "pre", "no_norm")
KINDS = ("with", "without")
ROWS = 8  # per batch
STEPS = 80
RECIPE: dict[str, Any] = {
    "data.source.count": 1500,
    "data.validation": 50,
    "task.context": 48,
    "model.max_len": 48,
    "model.d_model": 64,
    "model.d_ff": 256,
    "train.batch_tokens": ROWS * 48,
    "train.warmup": 20,
}
REPORTED = 600.0  # the factor in the claim
EPS = 1e-5


def run(setup: LessonSetup) -> Data:
    """Blocks whose last matrices are 0; then decoders of every depth, with and without "Add"."""
    return {"identity": identity(), "reported": REPORTED, **depths(setup)}


def identity() -> dict[str, Any]:
    """max |block(x) − x| of a block whose two last matrices are 0, for each order; x is not normalised."""
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


# --- untrained decoders of every depth, with and without "Add" ---


def depths(setup: LessonSetup) -> dict[str, Any]:
    """Every order and depth; for a seed both models have the same weights."""
    experiment = Experiment("characters", {**RECIPE, "train.steps": setup.some(STEPS)})
    material = experiment.material
    batch = material.task.collate([material.training[i] for i in range(ROWS)])
    jobs = [(order, depth) for order in ORDERS for depth in DEPTHS if depth <= setup.some(max(DEPTHS), least=PAPER)]
    deepest = min(SHOWN, jobs[-1][1])
    found: dict[str, list[dict[str, Any]]] = {order: [] for order in ORDERS}
    layers: dict[str, dict[str, list[float]]] = {}
    for order, depth in setup.each("depth", jobs):
        both = {kind: [look(experiment, batch, seed, order, depth, kind) for seed in setup.seeds] for kind in KINDS}
        found[order].append(_row(depth, both))
        if depth == deepest:
            layers[order] = {
                kind: [fmean(layer) for layer in zip(*(one["gradients"] for one in both[kind]), strict=True)]
                for kind in KINDS
            }
    return {
        "by_depth": found,
        "by_layer": layers,
        "shown": deepest,
        "deepest": {order: rows[-1] for order, rows in found.items()},
        "paper": {order: next(row for row in rows if row["depth"] == PAPER) for order, rows in found.items()},
        "learning": learning(setup, experiment),
        "rows": ROWS,
        "d_model": RECIPE["model.d_model"],
    }


def look(experiment: Experiment, batch: Any, seed: int, order: str, depth: int, kind: str) -> dict[str, Any]:
    """Before training: the norm of the loss's gradient in each layer's weights, and the mean cosine of two tokens."""
    changes = {"model.n_decoder_layers": depth, "model.norm_order": "post" if order == "no_norm" else order}
    config = experiment.config(changes, seed).model
    model: Any = build_stack(config, seed, residual=kind == "with", norm=order != "no_norm").double()
    experiment.material.task.loss(model, batch).mean.backward()
    gradients = [
        float(torch.stack([weight.grad.square().sum() for weight in block.parameters()]).sum().sqrt())
        for block in model.decoder.blocks
    ]
    with torch.no_grad():
        x = F.normalize(model.decoder(model.embedding(batch.tokens), documents=batch.documents), dim=-1)  # b t d_model
    cosines = x @ x.transpose(1, 2)  # b t t
    others = ~torch.eye(x.shape[1], dtype=torch.bool)
    return {"gradients": gradients, "alike": float(cosines[:, others].mean())}


def _row(depth: int, both: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The first layer's gradient, and by how much "Add" raises it: the geometric mean over the seeds."""
    first = {kind: [one["gradients"][0] for one in seeds] for kind, seeds in both.items()}
    pairs = zip(first["with"], first["without"], strict=True)
    raised = interval([log(more) - log(less) if more > 0 and less > 0 else float("nan") for more, less in pairs])
    times = {end: exp(raised[end]) if raised[end] is not None else None for end in ("mean", "low", "high")}
    alike = {kind: fmean(one["alike"] for one in seeds) for kind, seeds in both.items()}
    return {
        "depth": depth,
        **{kind: interval(first[kind]) for kind in KINDS},
        "raised": raised,
        "times": times,
        "alike": alike,
    }


def learning(setup: LessonSetup, experiment: Experiment) -> dict[str, Any]:
    """The paper's depth in pre-norm order, trained for a few steps: the loss on new text."""
    changes = {"model.n_decoder_layers": PAPER, "model.norm_order": "pre"}
    losses: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for seed, kind in setup.each("training", [(seed, kind) for seed in setup.seeds for kind in KINDS]):
        ended = experiment.train(seed, changes, make=_with if kind == "with" else _without)
        losses[kind].append(ended.validation["loss"])
    gain = difference(losses["without"], losses["with"])
    return {"steps": STEPS, "depth": PAPER, **{kind: interval(losses[kind]) for kind in KINDS}, "gain": gain}


def _with(config: RunConfig) -> nn.Module:
    return build_stack(config.model, config.train.seed, residual=True, norm=True)


def _without(config: RunConfig) -> nn.Module:
    return build_stack(config.model, config.train.seed, residual=False, norm=True)


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
