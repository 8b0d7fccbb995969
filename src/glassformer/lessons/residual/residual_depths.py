"""Untrained decoders of every depth with and without "Add", on real text: the gradient in each layer, and how alike
all tokens have become at the end; then a short training of one depth.
"""

from __future__ import annotations

from math import exp, log
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from glassformer.config.recipe import RunConfig
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.residual.without_residual import build_stack
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval

DEPTHS = (1, 2, 4, 6, 8, 12, 16, 24)
PAPER = 6  # layers
SHOWN = 12  # the depth whose layers are drawn one by one
ORDERS = ("post", "pre", "no_norm")
KINDS = ("with", "without")
ROWS = 8  # of text in the batch
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


def depths(setup: LessonSetup) -> dict[str, Any]:
    """Every order and depth, seed by seed with the same weights on both sides."""
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
    """Before the first step: the norm of the loss's gradient in each layer's own weights; the cosine of two tokens."""
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
