"""What a loss says: 6.79 and 7.74 nats per token beside what counting words gives, and what a small budget can do.

Claim wmt-loss; the rule stands in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.errors import ConfigError
from glassformer.lessons.evaluation.docstrings import docstrings
from glassformer.lessons.evaluation.small_budget_experiment import train_both
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.metrics.language import NGrams
from glassformer.show.drawing import hover, lines, logarithmic
from glassformer.show.theme import Theme
from glassformer.text.kinds import train

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


REPORTED = {"training": 6.79, "validation": 7.74}  # nats per token, of the run that the claim is about
SIZES = (1000, 3000, 6000, 12000)  # the text at hand holds not many more pieces than that
ASSUMED = 37_000  # the vocabulary of that run is not known; the paper's own for this data has about so many
FIRST = 0x4E00  # tokens as characters of a large alphabet: the n-grams of this package count characters


def run(setup: LessonSetup) -> Data:
    """Entropies of a text that people wrote, at several vocabularies; then the same small budget, spent twice."""
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

    None where the text is too short to give so many pieces.
    """
    try:
        tokenizer = train("bpe", texts["train"], vocab_size)
    except ConfigError:
        return None
    learned, unseen = (_spelled(tokenizer.encode_batch(texts[part])) for part in ("train", "validation"))
    nats = NGrams.fit(learned).nats(unseen)
    tokens = sum(len(text) + 1 for text in unseen)  # and its end
    return {
        "vocab_size": vocab_size,
        "tokens": tokens,
        "uniform": log(vocab_size),
        "unigram": nats[1] / tokens,
        "bigram": nats[2] / tokens,
    }


def _spelled(texts: Sequence[Sequence[int]]) -> list[str]:
    return ["".join(chr(FIRST + token) for token in tokens) for tokens in texts]


def verdicts(data: Data) -> dict[str, Verdict]:
    """Hardly learned means: no better on new text than word counts, and on its own text worse than pairs of words.

    So 7.74 is not below the entropy of single tokens, and 6.79 not below that given the token before; a translator that
    ignored its source could do as well by counting. The vocabulary of that run is unknown, so the sides are the
    sizes measured on the text at hand; counting is exact. The straight line over ln V to 37,000 pieces is shown as a
    limit of the experiment and judges nothing: it is not a measurement, and it is rather too high, since the true
    curve bends down.
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
    """Two panels."""
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
    """What was not measured: dotted on to a hollow mark."""
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
