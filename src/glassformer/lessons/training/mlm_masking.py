"""BERT's masking, counted: how many tokens are chosen, and what replaces them.

Claim mlm-rates; the rule is in `verdicts`.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.data.grammar import pairs
from glassformer.data.masking import Masking, make_masking
from glassformer.data.store import Field
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, VerdictWord, within
from glassformer.losses import IGNORE
from glassformer.metrics.interval import wilson
from glassformer.show.drawing import bars, lines
from glassformer.show.theme import Theme
from glassformer.text.kinds import train

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SENTENCES = 6000
READINGS = 10  # times every text is masked, as in as many epochs
SAID = {"chosen": 0.15, "masked": 0.8, "random": 0.1, "kept": 0.1}  # Devlin et al. 2019, §3.1
LONGEST = 20  # length in the curve by length
PRINTED = 0.005  # the paper gives whole per cent


def run(setup: LessonSetup) -> Data:
    """Masks the Korean half of the built-in corpus with the code that trains masked models."""
    texts = [pair.source_ko for pair in pairs("train", setup.some(SENTENCES, 1000))]
    tokenizer = train("bpe", texts, 700)
    masking = make_masking(tokenizer)
    encoded = Field.of(tokenizer.encode_batch(texts))
    random = np.random.default_rng(setup.seeds[0])
    shortest = ceil(1 / masking.rate)  # from this length on, the rate alone decides
    counts = {name: np.zeros((2, 4), dtype=np.int64) for name in ("long", "short")}
    by_length = np.zeros((LONGEST + 1, 2), dtype=np.int64)  # chosen, all
    for _ in setup.each("readings", range(setup.some(READINGS))):
        for tokens in (encoded[i] for i in range(len(encoded))):
            found = _count(masking, tokens, random)
            counts["long" if len(tokens) >= shortest else "short"] += found
            by_length[min(len(tokens), LONGEST)] += found[:, 0]
    return {
        "texts": len(texts),
        "readings": setup.some(READINGS),
        "vocab_size": tokenizer.vocab_size,
        "shortest": shortest,
        "said": SAID,
        "long": _shares(counts["long"]),
        "short": _shares(counts["short"]),
        "all": _shares(counts["long"] + counts["short"]),
        "by_length": [
            {"length": n, **_share(int(hits), int(total))} for n, (hits, total) in enumerate(by_length) if total
        ],
    }


def _count(masking: Masking, tokens: Any, random: np.random.Generator) -> Any:
    """(hits, total) of each share: chosen of all tokens; [MASK], another token, the same token of the chosen.

    Counted from the outside: a random token that happens to be the same counts as kept, once in `vocab_size` draws.
    """
    read, wanted = masking(tokens, random)
    chosen = wanted != IGNORE
    masked, kept = chosen & (read == masking.mask), chosen & (read == tokens)
    number = int(chosen.sum())
    hits = (number, int(masked.sum()), int((chosen & ~masked & ~kept).sum()), int(kept.sum()))
    return np.array([hits, (len(tokens), number, number, number)])


def _shares(counts: Any) -> dict[str, Any]:
    return {name: _share(int(counts[0, i]), int(counts[1, i])) for i, name in enumerate(SAID)}


def _share(hits: int, total: int) -> dict[str, Any]:
    found = wilson(hits, max(total, 1))
    return {"value": found.value, "low": found.low, "high": found.high, "hits": hits, "total": total}


def verdicts(data: Data) -> dict[str, Verdict]:
    """Every share is that of BERT's paper (15 %; 80, 10, 10 %), to the whole per cent given there.

    So the 95 % interval of each share must lie within half a point of the number; no significant difference would
    confirm nothing. The sides are texts long enough for the rate to decide, and shorter ones; each has four parts.
    """
    sides = {group: {name: _verdict_share(data[group][name], said) for name, said in SAID.items()} for group in GROUPS}
    measured = {group: {name: data[group][name] for name in SAID} for group in (*GROUPS, "all")}
    return {"mlm-rates": Verdict.of(sides, {**measured, "shortest": data["shortest"]})}


def _verdict_share(share: Data, said: float) -> VerdictWord:
    effect = {"low": share["low"], "high": share["high"], "n": share["total"]}
    return within(effect, said - PRINTED, said + PRINTED)


GROUPS = ("long", "short")


SHARES = ("chosen", "masked", "random", "kept")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Bars with intervals; a curve with its band."""
    figure = theme.figure(10, 4)
    left, right = figure.subplots(1, 2)
    said, counted = [data["said"][name] for name in SHARES], [_counted(data["long"][name]) for name in SHARES]
    groups = {words("said"): said, words("counted"): counted}
    bars(left, theme, [words(name) for name in SHARES], groups, form=".1%")
    left.yaxis.set_major_formatter("{x:.0%}")
    left.set_title(words("shares"))
    rows = data["by_length"]
    lengths = [row["length"] for row in rows]
    lines(right, theme, lengths, {words("counted"): list(map(_counted, rows))}, form=".1%")
    right.axhline(data["said"]["chosen"], color=theme.vermilion, linestyle="--", label=words("said"))
    right.set_ylim(bottom=0)
    right.set_xticks(range(lengths[0], lengths[-1] + 1, 2))
    right.yaxis.set_major_formatter("{x:.0%}")
    right.set(title=words("by_length"), xlabel=words("length", longest=lengths[-1]))
    right.legend()
    return figure


def _counted(share: Data) -> Data:
    """A counted share with its interval."""
    return {**share, "mean": share["value"]}


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("mlm-rates",),
    equation=r"\tilde x_t=\begin{cases}\texttt{[MASK]}&80\,\%\\ x'\sim U(V)&10\,\%\\ x_t&10\,\%\end{cases}"
    r"\quad\text{for }15\,\%\text{ of all }t",
    formula="15 % of all t:  x̃_t = [MASK] (80 %), any token (10 %), x_t (10 %)",
    sources=("data/masking.py", "metrics/interval.py"),
    picture="mlm_masking_distribution",
)
