"""Which parts a classifier cannot do without: each switched off after training, and left out before it.

Claim parts-that-matter; the rule stands in `verdicts`.
"""

from __future__ import annotations

import copy
from contextlib import nullcontext
from typing import Any

import torch
from torch import nn

from glassformer.layers.norm import NORMS, LayerNorm
from glassformer.ledger.parameters import count
from glassformer.lessons.desk import Desk
from glassformer.lessons.families.parameters import shares
from glassformer.lessons.families.parts_that_matter_picture import draw
from glassformer.lessons.lesson import Data, Lesson, Verdict
from glassformer.lessons.residual.without_residual import NoNorm
from glassformer.lessons.short import Experiment, Outcome
from glassformer.lessons.statistics import above, interval
from glassformer.models.build import build
from glassformer.trace.edit import Change, edit, zero

STEPS = 180
HALF = 0.5  # of what was learned
SMALL = 0.01  # of all parameters
RECIPE: dict[str, Any] = {
    "data.source.count": 1200,
    "data.validation": 300,
    "text.tokenizer": "words",
    "text.vocab_size": 0,
    "model.d_model": 32,
    "model.d_ff": 128,
    "model.dropout": 0.0,
    "train.batch_tokens": 384,
    "train.warmup": 20,
    "train.ema": 0.0,
}
PARTS = ("attention", "feed_forward", "norm", "classifier")
CLAIMED = ("feed_forward", "norm", "classifier")
LEDGER = {"attention": "attention", "feed_forward": "feed_forward", "norm": "norm", "classifier": "head"}
OUTPUTS: dict[str, dict[str, Change]] = {
    "attention": {"*.self_attention.output": zero()},
    "feed_forward": {"*.feed_forward.output": zero()},
}
WAYS = ("switched_off", "left_out")


def run(desk: Desk) -> Data:
    """A small classifier of how a Korean sentence feels, trained in full and without each part, for every seed."""
    experiment = Experiment("sentiment", {**RECIPE, "train.steps": desk.some(STEPS)})
    found: dict[str, dict[str, list[dict[str, float]]]] = {way: {part: [] for part in PARTS} for way in WAYS}
    full: list[dict[str, float]] = []
    silent: list[dict[str, float]] = []
    for seed in desk.each("training", desk.seeds):
        whole = experiment.train(seed)
        full.append(whole.validation)
        silent.append(silenced(experiment, whole))
        for part in PARTS:
            found["switched_off"][part].append(switched_off(experiment, whole, part, seed))
            found["left_out"][part].append(left_out(experiment, part, seed).validation)
    chance = majority(experiment)
    config = experiment.config({}, 0).model
    held = shares(count("", config).parts)
    return {
        "chance": chance,
        "parameters": count("", config).total.parameters,
        "share": {part: held[LEDGER[part]] for part in PARTS},
        "steps": STEPS,
        "full": {name: interval([one[name] for one in full]) for name in ("accuracy", "loss")},
        "silenced": _lost(full, silent, chance),
        **{way: {part: _lost(full, found[way][part], chance) for part in PARTS} for way in WAYS},
    }


def switched_off(experiment: Experiment, whole: Outcome, part: str, seed: int) -> dict[str, float]:
    """The trained model without a part: sub-layers give 0, norms do nothing, the classifier forgets its training.

    A classifier that gives 0 leaves guessing, by construction, which would say nothing about it: see `silenced`.
    """
    model = copy.deepcopy(whole.model)
    if part == "norm":
        _bypass_norms(model)
    if part == "classifier":
        fresh = build(whole.config.model, seed=seed)
        model.get_submodule("head").load_state_dict(fresh.get_submodule("head").state_dict())
    with edit(model, OUTPUTS[part]) if part in OUTPUTS else nullcontext():
        return experiment.validate(model, whole.config)


def silenced(experiment: Experiment, whole: Outcome) -> dict[str, float]:
    """The trained model whose classifier gives 0 for every class: beside the claim, to be shown."""
    with edit(whole.model, {"head.logits": zero()}):
        return experiment.validate(whole.model, whole.config)


def _bypass_norms(model: nn.Module) -> None:
    for path, module in list(model.named_modules()):
        if isinstance(module, LayerNorm):
            owner, _, name = path.rpartition(".")
            model.get_submodule(owner).register_module(name, nn.Identity())


def left_out(experiment: Experiment, part: str, seed: int) -> Outcome:
    """Trained from the start without a part; of the classifier only the training is left out: it stays as drawn."""
    changes = {"model.norm": "none"} if part == "norm" else {}
    config = experiment.config(changes, seed)
    model: nn.Module = build(config.model, seed=seed, norms={**NORMS, "none": NoNorm})
    if part == "classifier":
        model.get_submodule("head").requires_grad_(False)
    with edit(model, OUTPUTS[part]) if part in OUTPUTS else nullcontext():
        return experiment.train(seed, changes, make=lambda _: model)


def majority(experiment: Experiment) -> float:
    """What always saying the most frequent label of the validation texts gets right."""
    store = experiment.material.validation
    assert store is not None
    labels = torch.tensor([int(store[i][1][0]) for i in range(len(store))])
    return float(labels.bincount().max()) / len(labels)


def _lost(full: list[dict[str, float]], without: list[dict[str, float]], chance: float) -> dict[str, Any]:
    """Of the accuracy above guessing, the share that is lost; not a number where nothing was learned."""
    lost = [
        (all_["accuracy"] - less["accuracy"]) / (all_["accuracy"] - chance)
        if all_["accuracy"] > chance
        else float("nan")
        for all_, less in zip(full, without, strict=True)
    ]
    return {
        "accuracy": interval([one["accuracy"] for one in without]),
        "loss": interval([one["loss"] for one in without]),
        "lost": interval(lost),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """A part is key, vital or decisive if without it more than half of what was learned is lost (95 % interval over
    seeds of the lost share of accuracy above guessing above 1/2: less than half would not deserve the words). Small and
    simple: under 1 % of the parameters.

    Confirmed if all three parts are so in both ways, switched off after training and left out before it, and norm and
    classifier are small; refuted if no part is so in any way; else it depends.
    """
    vital = {(part, way): above(data[way][part]["lost"], HALF) for part in CLAIMED for way in WAYS}
    small = all(data["share"][part] < SMALL for part in ("norm", "classifier"))
    measured = {
        "full": data["full"],
        "chance": data["chance"],
        "share": data["share"],
        "silenced": data["silenced"],
        "held": sum(vital.values()),
        "asked": len(vital),
        **{way: data[way] for way in WAYS},
    }
    every, some = all(vital.values()) and small, any(vital.values())
    return {"parts-that-matter": Verdict("confirmed" if every else "depends" if some else "refuted", measured)}


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("parts-that-matter",),
    paper="§3.1–3.3",
    sources=("trace/edit.py", "models/block.py", "layers/head/classifier.py"),
)
