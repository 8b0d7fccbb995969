"""A stock price as nine patches: shapes, attention over the patches, and the forecast against simple baselines.

Claims patches-nine and heads-terms; the rules are in `verdicts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.decoding.step import evaluating
from glassformer.layers.patch import SeriesPatches
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact, greater, less
from glassformer.loading import Loaded
from glassformer.models.build import build
from glassformer.models.encoder import EncoderOnly
from glassformer.show.drawing import bars, heat, hover, lines
from glassformer.show.theme import Theme
from glassformer.tasks.forecasting.evaluation import MODEL, Forecasts, forecasts
from glassformer.tasks.forecasting.task import Forecasting, SeriesMaterial
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CONTEXT, LENGTH, STRIDE = 30, 6, 3  # days
WINDOWS = 400  # test windows, evenly spread, for attention
STEPS = 600  # per training, as in the recipe


def run(setup: LessonSetup) -> Data:
    """Forecast and attention of the recipe's model; the distances of heads in trainings of several seeds."""
    loaded = setup.model("prices")
    experiment = Experiment("prices", {"train.steps": setup.some(STEPS, 2)})
    material = experiment.material
    assert isinstance(material, SeriesMaterial)
    some = _some(material, setup.some(WINDOWS, 20))
    weights = _weights(loaded.model, material.task, some)
    return {
        "patches": _patches(loaded),
        "example": _example(loaded, material, weights),
        "forecast": _judged(forecasts(loaded, material, material.windows["test"], lambda done, every: None)),
        "distance": [_distances(layer) for layer in weights],
        "even": _even(),
        "heads": _heads(setup, experiment, some),
        "steps": setup.some(STEPS, 2),
        "windows": len(some),
        "seeds": len(setup.seeds),
    }


def _patches(loaded: Loaded) -> dict[str, Any]:
    """The patches that the built box makes of 30 days, the formula's number, and the days in each patch."""
    model, options = loaded.model, loaded.config.model.input.options
    assert isinstance(model, EncoderOnly)
    shape = list(model.embedding(torch.zeros(1, 1, options["context"])).shape)
    days = {name: options[name] for name in ("context", "length", "stride")}
    first = [number * options["stride"] for number in range(shape[1])]
    return {**days, "shape": shape, "positions": SeriesPatches.positions(**days), "first": first}


def _some(material: SeriesMaterial, number: int) -> Tensor:
    """`number` scaled test windows, n × context."""
    test = material.windows["test"]
    chosen = np.linspace(0, len(test) - 1, min(number, len(test))).round().astype(int)
    return torch.from_numpy(np.stack([test[i][0] for i in chosen]))


@torch.no_grad()
def _weights(model: nn.Module, task: Forecasting, past: Tensor) -> list[Tensor]:
    """Attention of each layer, n h 9 9."""
    with evaluating(model), record(model, "*.weights") as trace:
        task.predict(model, past)
    return trace.attention()


def _distances(weights: Tensor) -> list[float]:
    """For each head Σ_s w_ts |t − s| · stride, in days, averaged over queries and windows."""
    at = torch.arange(weights.shape[-1])
    days = (at[:, None] - at).abs() * STRIDE  # t s
    return (weights * days).sum(-1).mean((0, 2)).tolist()


def _even() -> float:
    """The same distance for uniform attention."""
    number = SeriesPatches.positions(context=CONTEXT, length=LENGTH, stride=STRIDE)
    return _distances(torch.full((1, 1, number, number), 1 / number))[0]


def _heads(setup: LessonSetup, experiment: Experiment, past: Tensor) -> dict[str, Any]:
    """The nearest and farthest head for every seed, before and after training."""
    task = experiment.material.task
    assert isinstance(task, Forecasting)
    found: dict[str, dict[str, list[float]]] = {name: {"near": [], "far": []} for name in ("untrained", "trained")}
    for seed in setup.each("heads", setup.seeds):
        config = experiment.config({}, seed)
        models = {"untrained": build(config.model, seed=seed), "trained": experiment.train(seed, validated=False).model}
        for name, model in models.items():
            days = [day for layer in _weights(model, task, past) for day in _distances(layer)]
            found[name]["near"].append(min(days))
            found[name]["far"].append(max(days))
    spread = {name: [b - a for a, b in zip(one["near"], one["far"], strict=True)] for name, one in found.items()}
    return {
        name: {"near": interval(one["near"]), "far": interval(one["far"]), "spread": interval(spread[name])}
        for name, one in found.items()
    } | {"gained": difference(spread["trained"], spread["untrained"])}


def _judged(made: Forecasts) -> dict[str, Any]:
    """Squared error of each method on all test windows, and the model's gain over it."""
    beside = [name for name in made.said if name != MODEL]
    gains = {name: made.gain(name) for name in beside}
    return {
        "windows": len(made.windows),
        "mse": {name: made.errors(name).mse for name in (MODEL, *beside)},
        "gains": {name: {**vars(one), "verdict": one.verdict} for name, one in gains.items()},
    }


def _example(loaded: Loaded, material: SeriesMaterial, weights: list[Tensor]) -> dict[str, Any]:
    """The first test window in its share's prices, the forecasts, and attention over its patches."""
    test, panel = material.windows["test"], material.panel
    past, future = test[0]
    channel = panel.channels[int(panel.channel_of(test.starts[:1])[0])]
    scale = material.scaler.scales[channel.name]
    with torch.no_grad(), evaluating(loaded.model):
        said = material.task.predict(loaded.model, torch.from_numpy(past[None])).double().numpy()
    linear = material.baselines.every["nlinear"](past[None].astype(np.float64))
    return {
        "name": channel.name,
        "past": scale.restored(past.astype(np.float64)).tolist(),
        "future": scale.restored(future.astype(np.float64)).tolist(),
        "said": scale.restored(said[0]).tolist(),
        "linear": scale.restored(linear[0]).tolist(),
        "attention": weights[-1][0].mean(0).tolist(),  # t s, last layer, mean over heads
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """patches-nine: exact. The built box must give 9 vectors for 30 days, and so must the formula of the ledger.

    heads-terms: near and far mean nearer and farther than uniform attention, the distance of a head without preference.
    The claim has three parts: in trained models the nearest head is below that distance, the farthest above it, and
    the gap between them is larger than in the same models before training.
    """
    patches, heads, even = data["patches"], data["heads"], data["even"]
    nine = patches["shape"][1] == patches["positions"] == 9 and patches["context"] == CONTEXT
    near, far = heads["trained"]["near"], heads["trained"]["far"]
    parts = {
        "near": less(near, even),
        "far": greater(far, even),
        "gained": greater(heads["gained"]),
    }
    measured = {"even": even, "near": near, "far": far, "gained": heads["gained"], "seeds": data["seeds"]}
    measured["untrained"] = heads["untrained"]["spread"]
    measured["trained"] = heads["trained"]["spread"]
    return {
        "patches-nine": Verdict.of(exact(nine), {**patches, "count": patches["shape"][1]}),
        "heads-terms": Verdict.of({"trained": parts}, measured),
    }


METHODS = ("model", "persistence", "nlinear", "dlinear")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Above: input and forecast. Below: attention, errors, heads."""
    figure = theme.figure(10, 7.6)
    panels = figure.subplot_mosaic([["series"] * 3, ["attention", "errors", "heads"]], height_ratios=[1, 1.1])
    _series(panels["series"], data, theme, words)
    number = len(data["patches"]["first"])
    names = [str(patch + 1) for patch in range(number)]
    heat(panels["attention"], theme, data["example"]["attention"], rows=names, columns=names, bar=words("weight"))
    panels["attention"].set(title=words("attention"), xlabel=words("patch"), ylabel=words("asks"))
    errors = data["forecast"]["mse"]
    bars(
        panels["errors"],
        theme,
        [words(name) for name in METHODS],
        {"": [errors[name] for name in METHODS]},
        form=".4f",
        colours=[theme.vermilion, theme.muted, theme.green, theme.purple],
    )
    panels["errors"].set(title=words("errors"), ylabel=words("squared"))
    panels["errors"].tick_params(axis="x", labelsize=8)
    _draw_heads(panels["heads"], data, theme, words)
    return figure


def _series(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """30 days of prices with nine brackets below them, and the forecast of five days."""
    example, patches = data["example"], data["patches"]
    past, future = example["past"], example["future"]
    context = len(past)
    ahead = list(range(context, context + len(future) + 1))
    axes.plot(range(1, context + 1), past, color=theme.ink, marker="o", markersize=3)
    for name, number in (("future", 0), ("said", 1), ("linear", 2)):
        values = [past[-1], *example[name]]
        colour, pattern = theme.series[number], theme.lines[number]
        (line,) = axes.plot(ahead, values, color=colour, linestyle=pattern, label=words(name))
        hover(line, f"{words(name)}: " + ", ".join(f"{value:.1f}" for value in values[1:]))
    low, high = min(past + future), max(past + future)
    step = (high - low) * 0.11
    for number, first in enumerate(patches["first"]):
        height = low - step * (1.4 + 1.2 * (number % 3))
        begin, end = first + 0.65, first + patches["length"] + 0.35  # days are counted from 1
        feet = [height + step * 0.5, height, height, height + step * 0.5]
        (bracket,) = axes.plot([begin, begin, end, end], feet, color=theme.muted, linewidth=1.4)
        hover(bracket, words("days", patch=number + 1, first=first + 1, last=first + patches["length"]))
        middle = (begin + end) / 2
        axes.text(middle, height + step * 0.12, str(number + 1), ha="center", va="bottom", fontsize=9, color=theme.ink)
    axes.set_title(words("series", name=example["name"], number=len(patches["first"])))
    axes.set_xlabel(words("day"))
    axes.set_ylabel(words("price"))
    axes.set_xlim(0, ahead[-1] + 1)
    axes.set_ylim(top=high + (high - low) * 0.28)
    axes.legend(loc="upper right", fontsize=9, ncols=3)


def _draw_heads(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """Every head of the model as a point; the line is uniform attention."""
    layers = data["distance"]
    heads = list(range(1, len(layers[0]) + 1))
    lines(axes, theme, heads, {words("layer", layer=i + 1): days for i, days in enumerate(layers)}, form=".1f")
    line = axes.axhline(data["even"], color=theme.muted, linestyle="--", label=words("even"))
    hover(line, f"{words('even')}: {data['even']:.1f}")
    every = [data["even"], *(day for days in layers for day in days)]
    axes.set_ylim(0, max(every) * 1.1)
    axes.set_xticks(heads)
    axes.legend(fontsize=9, loc="lower right")
    axes.set(title=words("distance"), xlabel=words("head"))


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("patches-nine", "heads-terms"),
    models=("prices",),
    equation=r"n=\left\lfloor\frac{30-6}{3}\right\rfloor+1=9,\qquad "
    r"d_h=\frac1n\sum_t\sum_s w^{(h)}_{ts}\,|t-s|\cdot\mathrm{stride}",
    formula="n = ⌊(30 − 6) / 3⌋ + 1 = 9,   d_h = mean_t Σ_s w_ts |t − s| · stride",
    sources=("layers/patch.py", "tasks/forecasting/task.py", "tasks/forecasting/baselines.py", "recipes/prices.toml"),
)
