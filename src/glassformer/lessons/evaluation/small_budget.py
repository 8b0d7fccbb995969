"""What a loss means: 6.79 and 7.74 nats per token beside what counting words gives; and what a small budget can do.

Claim wmt-loss; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.data.store import Store
from glassformer.errors import ConfigError
from glassformer.lessons.evaluation.docstrings import docstrings
from glassformer.lessons.experiment import Experiment, Outcome
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.loading import open_recipe
from glassformer.metrics.language import NGrams
from glassformer.show.drawing import hover, lines, logarithmic
from glassformer.show.theme import Theme
from glassformer.text.kinds import train

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SCALE = 10  # divides 3,100 steps, 4,960 sentences and 800 warm-up steps, which would take too long on one core
RECIPES = {"plain": "budget-3100-plain", "own": "budget-3100"}
SMALL = {"d_model": 32, "d_ff": 128, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 1}
POINTS = 50  # of each curve
REPORTED = {"training": 6.79, "validation": 7.74}  # nats per token in the run that the claim is about
SIZES = (1000, 3000, 6000, 12000)  # our text does not give many more pieces
ASSUMED = 37_000  # the vocabulary of that run is unknown; the paper's for this data is about this large
FIRST = 0x4E00  # tokens become characters from here on: our n-grams count characters


def run(setup: LessonSetup) -> Data:
    """Entropies of natural text at several vocabulary sizes; then two recipes on the same small budget."""
    sizes = SIZES[: setup.some(len(SIZES), 2)]
    texts = {part: docstrings(part) for part in ("train", "validation")}
    texts["train"] = texts["train"][: setup.some(len(texts["train"]), 1500)]
    rows = [row for size in setup.each("vocabularies", sizes) if (row := _entropies(size, texts))]
    guessed = {"vocab_size": ASSUMED, "uniform": log(ASSUMED)}
    for name in ("unigram", "bigram"):
        slope, start = np.polyfit([log(row["vocab_size"]) for row in rows], [row[name] for row in rows], 1)
        guessed[name] = float(start + slope * log(ASSUMED))
    return {
        "reported": REPORTED,
        "text": {"characters": sum(map(len, texts["train"])), "validation": rows[-1]["tokens"]},
        "rows": rows,
        "last": rows[-1],
        "assumed": guessed,
        "budget": train_both(setup),
    }


def _entropies(vocab_size: int, texts: Mapping[str, Sequence[str]]) -> dict[str, Any] | None:
    """Nats per token of the validation part, by n-grams of the training part (Kneser-Ney smoothed).

    None if the text is too short to give that many pieces.
    """
    try:
        tokenizer = train("bpe", texts["train"], vocab_size)
    except ConfigError:
        return None
    learned, unseen = (_spelled(tokenizer.encode_batch(texts[part])) for part in ("train", "validation"))
    tokens = sum(map(_length, unseen))
    return {"vocab_size": vocab_size, "tokens": tokens, "uniform": log(vocab_size), **_nats(learned, unseen)}


def _spelled(texts: Sequence[Sequence[int]]) -> list[str]:
    return ["".join(chr(FIRST + token) for token in tokens) for tokens in texts]


def _length(text: str) -> int:
    """The number of tokens, with the end token."""
    return len(text) + 1


def _nats(learned: Sequence[str], unseen: Sequence[str]) -> dict[str, float]:
    """Nats per token on unseen texts, by counts of single tokens and of pairs."""
    nats, tokens = NGrams.fit(learned).nats(unseen), sum(map(_length, unseen))
    return {"unigram": nats[1] / tokens, "bigram": nats[2] / tokens}


# --- our own small budget ---


def train_both(setup: LessonSetup) -> dict[str, Any]:
    """Validation loss of both recipes after the same steps, over the seeds; and of counting on the same sentences."""
    own = open_recipe(RECIPES["own"])
    pairs, epochs, sentences = own.data.limit // SCALE, own.train.epochs, own.train.max_sentences
    assert epochs and sentences
    steps = setup.some(epochs * pairs // sentences, 3)
    experiment = Experiment("ko-en", _sizes())
    store = experiment.material.training
    assert isinstance(store, Store)
    some = store.select(np.arange(min(max(steps * sentences // epochs, 1), len(store))))
    found: dict[str, Any] = {}
    for name, recipe in RECIPES.items():
        changes = {**_settings(recipe), "train.steps": steps}
        runs = [experiment.train(seed, changes, training=some) for seed in setup.each(recipe, setup.seeds)]
        found[name] = _summary(runs)
    validation = experiment.material.validation
    assert isinstance(validation, Store)
    gained = difference(*(found[name]["validation"] for name in ("plain", "own")))
    sizes = {
        "steps": steps,
        "pairs": len(some),
        "scale": SCALE,
        "vocab_size": experiment.config({}, 0).model.vocab_size,
    }
    return {**found, **sizes, **_counted(some, validation), "gained": gained}


def _sizes() -> dict[str, Any]:
    """A small model, batches of 32 sentences, the built-in corpus in place of the recipes' data."""
    data = {"data.source.count": 2000, "data.validation": 200, "text.vocab_size": 1000}
    batches = {
        "train.max_sentences": open_recipe(RECIPES["own"]).train.max_sentences,
        "train.batch_tokens": 4096,
        "train.pool": 1,
    }
    return {**data, **batches, **{f"model.{key}": value for key, value in SMALL.items()}}


def _settings(recipe: str) -> dict[str, Any]:
    """The settings in which the two recipes differ."""
    config = open_recipe(recipe)
    train = config.train
    return {
        "model.norm_order": config.model.norm_order,
        "model.dropout": config.model.dropout,
        "train.optimizer": {"kind": train.optimizer.kind, **train.optimizer.options},
        "train.learning_rate": train.learning_rate,
        "train.schedule": train.schedule.kind,
        "train.warmup": train.warmup // SCALE,
        "train.clip": train.clip,
        "train.ema": train.ema,
    }


def _summary(runs: list[Outcome]) -> dict[str, Any]:
    curves = np.array([run.losses for run in runs])
    at = np.unique(np.linspace(0, curves.shape[1] - 1, POINTS).round().astype(int))
    return {
        "validation": interval([run.validation["loss"] for run in runs]),
        "training": interval(curves[:, -10:].mean(1).tolist()),
        "curve": {"steps": (at + 1).tolist(), "loss": curves.mean(0)[at].tolist()},
    }


def _counted(training: Store, validation: Store) -> dict[str, float]:
    """Nats per target token by counts alone."""
    texts = ([store.fields["target"][i].tolist() for i in range(len(store))] for store in (training, validation))
    return _nats(*map(_spelled, texts))


def verdicts(data: Data) -> dict[str, Verdict]:
    """Hardly learned means: no better than counting, single tokens on new text and pairs of tokens on its own text.

    So 7.74 is not below the entropy of single tokens, and 6.79 not below that given the token before; a translator that
    ignored its source could do as well by counting. The vocabulary of that run is unknown, so the sides are the sizes
    measured on our text; counting is exact. The straight line over ln V to 37,000 pieces is shown but not judged: it
    is no measurement, and probably too high, since the true curve bends down.
    """
    reported = data["reported"]
    sides = {
        str(row["vocab_size"]): {
            "validation": exact(reported["validation"] >= row["unigram"]),
            "training": exact(reported["training"] >= row["bigram"]),
        }
        for row in data["rows"]
    }
    measured = {
        **reported,
        "last": data["last"],
        "assumed": data["assumed"],
        "plain": data["budget"]["plain"]["validation"]["mean"],
        "own": data["budget"]["own"]["validation"]["mean"],
        "unigram": data["budget"]["unigram"],
        "scale": data["budget"]["scale"],
    }
    return {"wmt-loss": Verdict.of(sides, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Entropies and reported losses on the left, the small budget on the right."""
    figure = theme.figure(10, 4.4)
    left, right = figure.subplots(1, 2)
    _draw_entropies(left, data, theme, words)
    budget = data["budget"]
    curves = {words(name): budget[name]["curve"]["loss"] for name in ("plain", "own")}
    lines(right, theme, budget["own"]["curve"]["steps"], curves, form=".2f")
    for name, pattern in (("unigram", "--"), ("bigram", ":")):
        line = right.axhline(budget[name], color=theme.muted, linestyle=pattern, label=words(name))
        hover(line, f"{words(name)}: {budget[name]:.2f}")
    right.set_ylim(bottom=0)
    right.set(title=words("budget"), xlabel=words("step"))
    right.legend(fontsize=9)
    return figure


def _assumed(axes: Axes, data: Data, theme: Theme, words: PictureWords, names: tuple[str, ...]) -> None:
    """The extrapolation, which was not measured: dotted, to a hollow mark."""
    last, far = data["rows"][-1], data["assumed"]
    for number, name in enumerate(names):
        colour, at = theme.series[number], (last["vocab_size"], far["vocab_size"])
        axes.plot(at, (last[name], far[name]), color=colour, linestyle=(0, (1, 2)), linewidth=1.4)
        (mark,) = axes.plot(at[1:], [far[name]], color=colour, marker=theme.markers[number], markerfacecolor="none")
        hover(mark, words("assumed", name=words(name), value=f"{far[name]:.2f}"))


def _draw_entropies(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    rows = data["rows"]
    sizes = [row["vocab_size"] for row in rows]
    names = ("uniform", "unigram", "bigram")
    lines(axes, theme, sizes, {words(name): [row[name] for row in rows] for name in names}, form=".2f")
    _assumed(axes, data, theme, words, names)
    for name, pattern in (("validation", "-"), ("training", "--")):
        label = words(f"reported_{name}", value=data["reported"][name])
        line = axes.axhline(data["reported"][name], color=theme.purple, linestyle=pattern, linewidth=1.4, label=label)
        hover(line, label)
    axes.axvspan(sizes[-1], data["assumed"]["vocab_size"], color=theme.muted, alpha=0.12, linewidth=0)
    logarithmic(axes, "x")
    axes.set_ylim(bottom=0)
    axes.set(title=words("nats"), xlabel=words("vocab_size"))
    axes.legend(loc="lower right", fontsize=9)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("wmt-loss",),
    equation=r"H_1=-\sum_w p(w)\ln p(w),\qquad H_2=-\sum_{v,w}p(v,w)\ln p(w\mid v)",
    formula="H₁ = − Σ p(w) ln p(w),   H₂ = − Σ p(v, w) ln p(w | v)",
    paper="§5",
    sources=("metrics/language.py", "data/documents.py", "recipes/budget-3100.toml", "recipes/budget-3100-plain.toml"),
)
