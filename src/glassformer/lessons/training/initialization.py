"""Initialisation: what Xavier, He and a fixed width put into the matrices of a real model. No claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import interval
from glassformer.lessons.texts import PictureWords
from glassformer.models.build import build
from glassformer.show.drawing import bars, lines
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


RULES = ("xavier", "he", "normal")
MATRICES = ("w_q", "w_1", "w_2")
WIDEST, BINS = 0.15, 50  # the histogram goes from −WIDEST to WIDEST
ROWS = 512  # vectors passed through the feed-forward network


def run(setup: LessonSetup) -> Data:
    """One layer of the paper's base size, built by each rule with every seed."""
    base = {"family": "encoder", "n_encoder_layers": 1, "vocab_size": 1000, "max_len": 64}
    rules = {rule: _looks(setup, ModelConfig.from_dict({**base, "init": rule})) for rule in setup.each("init", RULES)}
    edges = torch.linspace(-WIDEST, WIDEST, BINS + 1)
    centres = ((edges[1:] + edges[:-1]) / 2).tolist()
    config = ModelConfig.from_dict(base)
    return {"d_model": config.d_model, "d_ff": config.d_ff, "centres": centres, "rules": rules}


def _looks(setup: LessonSetup, config: ModelConfig) -> dict[str, Any]:
    models = [build(config, seed=seed) for seed in setup.seeds]
    found: dict[str, Any] = {name: _matrix([weight(model, name) for model in models]) for name in MATRICES}
    found["through"] = interval([_through(model, seed) for model, seed in zip(models, setup.seeds, strict=True)])
    return found


def weight(model: nn.Module, name: str) -> Tensor:
    """A matrix of the first layer by the name of its box."""
    path = "self_attention" if name == "w_q" else "feed_forward"
    found: Tensor = model.get_parameter(f"encoder.blocks.0.{path}.{name}.weight").detach()
    return found


def _matrix(weights: list[Tensor]) -> dict[str, Any]:
    """The deviation of a matrix over the seeds; the histogram (a density) is of the first seed."""
    first = weights[0].flatten()
    counts = torch.histc(first, BINS, -WIDEST, WIDEST)
    return {
        "std": interval([float(one.std()) for one in weights]),
        "kurtosis": interval([_kurtosis(one) for one in weights]),
        "largest": interval([float(one.abs().max()) for one in weights]),
        "density": (counts / len(first) / (2 * WIDEST / BINS)).tolist(),
    }


def _kurtosis(values: Tensor) -> float:
    """E[z⁴] − 3 of the standardised values: 0 for a normal distribution, −1.2 for a uniform one."""
    z = (values - values.mean()) / values.std()
    return float((z**4).mean()) - 3.0


@torch.no_grad()
def _through(model: nn.Module, seed: int) -> float:
    """The deviation of the feed-forward network's output for inputs of deviation 1."""
    box = model.get_submodule("encoder.blocks.0.feed_forward")
    width = weight(model, "w_1").shape[1]
    return float(box(torch.randn(ROWS, width, generator=torch.Generator().manual_seed(seed))).std())


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Three panels: W_1, W_2, and the deviation after the feed-forward network."""
    figure = theme.figure(10, 3.8)
    first, second, third = figure.subplots(1, 3)
    for axes, name in ((first, "w_1"), (second, "w_2")):
        densities = {words(rule): found[name]["density"] for rule, found in data["rules"].items()}
        lines(axes, theme, data["centres"], densities)
        axes.set(title=words(name), xlabel=words("weight"))
        axes.legend(fontsize=8)
    second.legend().set_visible(False)  # the same as in the first
    first.set_ylabel(words("density"))
    through = {words(rule): [found["through"]] for rule, found in data["rules"].items()}
    bars(third, theme, [words("all")], through, form=".2f")
    third.legend().set_visible(False)
    third.margins(y=0.1)
    third.set_title(words("through"))
    third.axhline(1.0, color=theme.muted, linestyle=":", linewidth=1.2)
    return figure


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"\sigma_{Xavier}=\sqrt{\frac{2}{n_{in}+n_{out}}},\qquad\sigma_{He}=\sqrt{\frac{2}{n_{in}}}",
    formula="σ_Xavier = √(2 / (n_in + n_out)),   σ_He = √(2 / n_in)",
    sources=("models/initialize.py",),
    picture="initialization_distributions",
)
