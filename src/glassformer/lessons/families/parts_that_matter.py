"""Which parts a classifier needs: each is switched off after training, and left out before it.

Claims ffn-matters, norm-matters and classifier-matters; the rules are in `verdicts`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from glassformer.config.model import ModelConfig
from glassformer.config.recipe import RunConfig
from glassformer.layers.norm import NORMS, LayerNorm
from glassformer.ledger.parameters import count
from glassformer.lessons.experiment import Experiment, Outcome
from glassformer.lessons.families.parameters import shares
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.norm.batch_norm import NoNorm
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval, share, within_one
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, VerdictWord, exact, greater
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme
from glassformer.trace.edit import Change, edit, zero

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STEPS = 180
RECIPE: dict[str, Any] = {
    "data.source.count": 1200,
    "data.validation": 300,
    "text.tokenizer": "words",
    "text.vocab_size": 0,
    "model.dropout": 0.0,
    "train.batch_tokens": 384,
    "train.warmup": 20,
    "train.ema": 0.0,
}
PARTS = ("attention", "feed_forward", "norm", "classifier")
LEDGER = {"attention": "attention", "feed_forward": "feed_forward", "norm": "norm", "classifier": "head"}
OUTPUTS: dict[str, dict[str, Change]] = {
    "attention": {"*.self_attention.output": zero()},
    "feed_forward": {"*.feed_forward.output": zero()},
}
WAYS = ("switched_off", "left_out")
HALF = 0.5  # share of what was learned
SMALL = 0.01  # share of all parameters
SHAPE = {"model.d_model": 32, "model.d_ff": 128}  # two layers, pre-norm
CLAIMED = {"ffn-matters": "feed_forward", "norm-matters": "norm", "classifier-matters": "classifier"}


def run(setup: LessonSetup) -> Data:
    """Two small classifiers: a pre-norm one, and the one that the lesson `parameters` counts."""
    counted = PRESETS["mini-classifier"]()
    mini = {
        "model.d_model": counted.d_model,
        "model.d_ff": counted.d_ff,
        "model.n_heads": counted.n_heads,
        "model.n_encoder_layers": counted.n_encoder_layers,
        "model.norm_order": counted.norm_order,
        "model.max_len": counted.max_len,
        "train.loss": "binary_cross_entropy",  # its head has one output
    }
    return {
        **Classifier(setup, SHAPE).measure(),
        "mini": Classifier(setup, mini, vocab_size=counted.vocab_size).measure(),
    }


# --- a classifier with a part switched off or left out ---


class Classifier:
    """Sentiment of Korean sentences, by one shape of model; `vocab_size`: rows of its table, if not the tokenizer's."""

    def __init__(self, setup: LessonSetup, changes: Mapping[str, Any], vocab_size: int | None = None) -> None:
        self.setup, self.vocab_size = setup, vocab_size
        self.experiment = Experiment("sentiment", {**RECIPE, "train.steps": setup.some(STEPS), **changes})

    def shape(self, config: RunConfig) -> ModelConfig:
        return config.model if self.vocab_size is None else replace(config.model, vocab_size=self.vocab_size)

    def measure(self) -> dict[str, Any]:
        """The whole model, and the model without each part, for every seed."""
        found: dict[str, dict[str, list[dict[str, float]]]] = {way: {part: [] for part in PARTS} for way in WAYS}
        full: list[dict[str, float]] = []
        silent: list[dict[str, float]] = []
        for seed in self.setup.each("training", self.setup.seeds):
            whole = self.experiment.train(seed, make=lambda config: build(self.shape(config), seed=config.train.seed))
            full.append(whole.validation)
            silent.append(self.silenced(whole))
            for part in PARTS:
                found["switched_off"][part].append(self.switched_off(whole, part, seed))
                found["left_out"][part].append(self.left_out(part, seed).validation)
        chance = self.majority()
        ledger = count("", self.shape(self.experiment.config({}, 0)))
        held = shares(ledger.parts)
        return {
            "chance": chance,
            "parameters": ledger.total.parameters,
            "share": {part: held[LEDGER[part]] for part in PARTS},
            "steps": self.setup.some(STEPS),
            "full": {"accuracy": share([one["accuracy"] for one in full]), "loss": _interval(full, "loss")},
            "silenced": _lost(full, silent, chance),
            **{way: {part: _lost(full, found[way][part], chance) for part in PARTS} for way in WAYS},
        }

    def switched_off(self, whole: Outcome, part: str, seed: int) -> dict[str, float]:
        """The trained model without a part: sub-layers output 0, norms do nothing, the classifier is untrained again.

        A classifier that outputs 0 can only guess, whatever its importance: see `silenced`.
        """
        model = copy.deepcopy(whole.model)
        if part == "norm":
            _bypass_norms(model)
        if part == "classifier":
            fresh = build(self.shape(whole.config), seed=seed)
            model.get_submodule("head").load_state_dict(fresh.get_submodule("head").state_dict())
        with edit(model, OUTPUTS[part]) if part in OUTPUTS else nullcontext():
            return self.experiment.validate(model, whole.config)

    def silenced(self, whole: Outcome) -> dict[str, float]:
        """The trained model with a classifier that outputs 0 for every class: shown, not judged."""
        with edit(whole.model, {"head.logits": zero()}):
            return self.experiment.validate(whole.model, whole.config)

    def left_out(self, part: str, seed: int) -> Outcome:
        """Trained from the start without a part; the classifier is not removed but keeps its initial weights."""
        changes = {"model.norm": "none"} if part == "norm" else {}
        config = self.experiment.config(changes, seed)
        model: nn.Module = build(self.shape(config), seed=seed, norms={**NORMS, "none": NoNorm})
        if part == "classifier":
            model.get_submodule("head").requires_grad_(False)
        with edit(model, OUTPUTS[part]) if part in OUTPUTS else nullcontext():
            return self.experiment.train(seed, changes, make=lambda _: model)

    def majority(self) -> float:
        """The accuracy of always predicting the most frequent validation label."""
        store = self.experiment.material.validation
        assert store is not None
        labels = torch.tensor([int(store[i][1][0]) for i in range(len(store))])
        return float(labels.bincount().max()) / len(labels)


def _bypass_norms(model: nn.Module) -> None:
    for path, module in list(model.named_modules()):
        if isinstance(module, LayerNorm):
            owner, _, name = path.rpartition(".")
            model.get_submodule(owner).register_module(name, nn.Identity())


def _interval(found: list[dict[str, float]], name: str) -> dict[str, Any]:
    return interval([one[name] for one in found])


def _lost(full: list[dict[str, float]], without: list[dict[str, float]], chance: float) -> dict[str, Any]:
    """The lost share of the accuracy above guessing; NaN if nothing was learned."""
    lost = [
        (all_["accuracy"] - less["accuracy"]) / (all_["accuracy"] - chance)
        if all_["accuracy"] > chance
        else float("nan")
        for all_, less in zip(full, without, strict=True)
    ]
    accuracy = share([one["accuracy"] for one in without])
    return {"accuracy": accuracy, "loss": _interval(without, "loss"), "lost": interval(lost)}


def verdicts(data: Data) -> dict[str, Verdict]:
    """A part is "key", "vital" or "decisive" if more than half of what was learned is lost without it: the interval
    over the seeds of the lost share of accuracy above guessing lies above one half. A smaller loss would not deserve
    the words. "Small" (norm) and "simple" (classifier) mean under 1 % of the parameters.

    The sides are both models and both ways: switched off after training, and left out before it. For the classifier
    only its training is undone or left out: one that outputs 0 can only guess, which is shown but not judged.
    """
    return {claim: _verdict_part(data, part) for claim, part in CLAIMED.items()}


def _verdict_part(data: Data, part: str) -> Verdict:
    models = {"small": data, "mini": data["mini"]}
    sides = {}
    for name, model in models.items():
        little: dict[str, VerdictWord] = (
            {} if part == "feed_forward" else {"small": exact(model["share"][part] < SMALL)}
        )
        for way in WAYS:
            sides[f"{name}/{way}"] = {**little, "matters": greater(model[way][part]["lost"], HALF)}
    measured: dict[str, Any] = {
        name: {
            "share": model["share"][part],
            "full": model["full"]["accuracy"]["mean"],
            "silenced": model["silenced"]["lost"],
            **{way: model[way][part]["lost"] for way in WAYS},
        }
        for name, model in models.items()
    }
    return Verdict.of(sides, {**measured, "chance": data["chance"]})


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Left: each part's share of the parameters. Right: the accuracy without it."""
    figure = theme.figure(10, 4)
    size, lost = figure.subplots(1, 2, width_ratios=(1, 1.9), sharey=True)
    labels = [words(part) for part in PARTS]
    bars(size, theme, labels, {words("share"): [data["share"][part] for part in PARTS]}, form=".2%", horizontal=True)
    size.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    size.margins(x=0.3)
    size.set_title(words("share"))
    groups = {words(way): [within_one(data[way][part]["accuracy"]) for part in PARTS] for way in WAYS}
    bars(lost, theme, labels, groups, form=".0%", horizontal=True)
    lost.invert_yaxis()
    for value, name in ((data["full"]["accuracy"]["mean"], "full"), (data["chance"], "chance")):
        lost.axvline(value, color=theme.muted, linestyle=":", linewidth=1.4)
        lost.annotate(
            words(name, value=f"{value:.0%}"),
            (value, 1.0),
            (0, 2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8,
            color=theme.muted,
        )
    lost.set_xlim(0, 1.12)
    lost.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    lost.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    lost.set_title(words("accuracy"), pad=18)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=tuple(CLAIMED),
    paper="§3.1–3.3",
    sources=("trace/edit.py", "models/block.py", "layers/head/classifier.py"),
)
