"""The "Add" of Add & Norm, §3.1: what a layer that learned nothing does, and how much gradient reaches the first layer.

Claims residual-identity and residual-gradient; the rules stand in `verdicts`.
"""

from __future__ import annotations

from math import exp, log
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, Verdict
from glassformer.lessons.residual.residual_picture import draw
from glassformer.lessons.residual.without_residual import build_stack
from glassformer.lessons.short import Experiment
from glassformer.lessons.statistics import above, interval
from glassformer.models.block import EncoderBlock

DEPTHS = (1, 2, 4, 6, 8, 12, 16, 24)
SHOWN = 12  # the depth whose layers are drawn one by one
ORDERS = ("post", "pre", "no_norm")
KINDS = ("with", "without")
REPORTED = 600.0  # times
ROWS = 8  # of text in the batch
EPS = 1e-5
RECIPE: dict[str, Any] = {
    "data.source.count": 400,
    "data.validation": 20,
    "task.context": 48,
    "model.max_len": 48,
    "model.d_model": 64,
    "model.d_ff": 256,
    "train.batch_tokens": ROWS * 48,
}


def run(desk: Desk) -> Data:
    """Blocks whose last matrices are 0; then untrained decoders of every depth, with and without "Add", on text."""
    experiment = Experiment("characters", RECIPE)
    batch = _batch(experiment)
    jobs = [(order, depth) for order in ORDERS for depth in DEPTHS if depth <= desk.some(max(DEPTHS), least=6)]
    found: dict[str, list[dict[str, Any]]] = {order: [] for order in ORDERS}
    shown: dict[str, dict[str, list[float]]] = {}
    for order, depth in desk.each("depth", jobs):
        both = {
            kind: [_gradients(experiment, batch, seed, order, depth, kind) for seed in desk.seeds] for kind in KINDS
        }
        found[order].append(_row(depth, both))
        if depth == min(SHOWN, jobs[-1][1]):
            shown[order] = {kind: [fmean(layer) for layer in zip(*both[kind], strict=True)] for kind in KINDS}
    paper = {order: next(row for row in rows if row["depth"] == 6) for order, rows in found.items()}
    return {
        "identity": identity(),
        "by_depth": found,
        "by_layer": shown,
        "shown": min(SHOWN, jobs[-1][1]),
        "deepest": {order: rows[-1] for order, rows in found.items()},
        "paper": paper,
        "rows": ROWS,
        "reported": REPORTED,
        "d_model": RECIPE["model.d_model"],
    }


def _batch(experiment: Experiment) -> Any:
    material = experiment.material
    return material.task.collate([material.training[i] for i in range(ROWS)])


def _gradients(experiment: Experiment, batch: Any, seed: int, order: str, depth: int, kind: str) -> list[float]:
    """The norm of the loss's gradient in each layer's own weights, before the first step of a training."""
    changes = {"model.n_decoder_layers": depth, "model.norm_order": "post" if order == "no_norm" else order}
    config = experiment.config(changes, seed).model
    model: Any = build_stack(config, seed, residual=kind == "with", norm=order != "no_norm").double()
    experiment.material.task.loss(model, batch).mean.backward()
    return [
        float(torch.stack([weight.grad.square().sum() for weight in block.parameters()]).sum().sqrt())
        for block in model.decoder.blocks
    ]


def _row(depth: int, both: dict[str, list[list[float]]]) -> dict[str, Any]:
    """The first layer's gradient, and by how much "Add" raises it: the geometric mean over the seeds."""
    first = {kind: [layers[0] for layers in seeds] for kind, seeds in both.items()}
    pairs = zip(first["with"], first["without"], strict=True)
    raised = interval([log(more) - log(less) if more > 0 and less > 0 else float("nan") for more, less in pairs])
    times = {end: exp(raised[end]) if raised[end] is not None else None for end in ("mean", "low", "high")}
    return {"depth": depth, **{kind: interval(first[kind]) for kind in KINDS}, "raised": raised, "times": times}


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
    """residual-identity: x + 0 is x, so the tolerance is 0. Confirmed if every order passes its input on unchanged,
    refuted if none does; depends if the orders with a free stream do and post-norm passes on the normalised input.

    residual-gradient: confirmed if "Add" raises the first layer's gradient over 600 times (95 % interval of the ratio,
    over seeds) at every depth from 2 on and in every order; depends if it does so at some and not at others; refuted if
    nowhere.
    """
    found = data["identity"]
    passed = [found[order] == 0.0 for order in ("pre", "parallel", "post")]
    same = Verdict("confirmed" if all(passed) else "depends" if any(passed) else "refuted", dict(found))
    return {"residual-identity": same, "residual-gradient": verdict_gradient(data)}


def verdict_gradient(data: Data) -> Verdict:
    """See `verdicts`."""
    rows = [row for found in data["by_depth"].values() for row in found if row["depth"] > 1]
    over = [above(row["raised"], log(data["reported"])) for row in rows]
    highest = max(rows, key=lambda row: row["times"]["mean"] or 0.0)
    measured = {
        "reported": data["reported"],
        "held": sum(over),
        "asked": len(over),
        "raised": sum(above(row["raised"]) for row in rows),
        "paper": data["paper"],
        "deepest": data["deepest"],
        "highest": highest,
    }
    return Verdict("confirmed" if all(over) else "depends" if any(over) else "refuted", measured)


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
