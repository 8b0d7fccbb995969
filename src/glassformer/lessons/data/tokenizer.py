"""Text into tokens: how long a sentence becomes in bytes, characters and learned pieces, in Korean and in English."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.data.grammar import GrammarPair, pairs
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.show.drawing import bars, hover, lines, logarithmic
from glassformer.show.theme import Theme
from glassformer.text.kinds import train
from glassformer.text.tokenizer import NAMES, Tokenizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SENTENCES = 4000
UNSEEN = 1000
VOCABULARY = 1500
BYTES = len(NAMES) + 256  # the smallest vocabulary of byte-pair encoding: nothing is merged yet
SIZES = (BYTES, 300, 400, 600, 900, VOCABULARY, 2500, 4000)
EXAMPLE = "나는 학교에 간다"
LANGUAGES = ("ko", "en")


def run(setup: LessonSetup) -> Data:
    """Every tokenizer learns from the same sentences of both languages and is measured on others."""
    number = setup.some(SENTENCES, 1000)
    every = pairs("train", number + setup.some(UNSEEN, 100), level="full")  # no duplicates
    learned, unseen = _texts(every[:number]), _texts(every[number:])
    both = [*learned["ko"], *learned["en"]]
    kinds = {
        "bytes": train("bpe", both, BYTES),
        "characters": train("characters", both),
        "sentencepiece": train("sentencepiece", both, setup.some(VOCABULARY, 1000)),
        "bpe": train("bpe", both, setup.some(VOCABULARY, 1000)),
    }
    sizes = [size for size in SIZES if size <= setup.some(SIZES[-1], 1000)]
    grown = [{"vocab_size": size, **_means(train("bpe", both, size), unseen)} for size in setup.each("merges", sizes)]
    return {
        "sentences": len(learned["ko"]),
        "unseen": len(unseen["ko"]),
        "kinds": {name: _look(tokenizer, unseen) for name, tokenizer in kinds.items()},
        "merges": grown,
        "first": grown[0],
        "last": grown[-1],
        "characters_in": {lang: float(np.mean([len(text) for text in unseen[lang]])) for lang in LANGUAGES},
        "words_in": {lang: float(np.mean([len(text.split()) for text in unseen[lang]])) for lang in LANGUAGES},
        "first_merges": " ".join(_merged(kinds["bpe"], 12)),
        "example": {"text": EXAMPLE, **{name: " | ".join(one.pieces(EXAMPLE)) for name, one in kinds.items()}},
    }


def _texts(found: Sequence[GrammarPair]) -> dict[str, list[str]]:
    return {"ko": [pair.source_ko for pair in found], "en": [pair.target_en for pair in found]}


def _means(tokenizer: Tokenizer, texts: dict[str, list[str]]) -> dict[str, float]:
    return {lang: float(np.mean(_lengths(tokenizer, texts[lang]))) for lang in LANGUAGES}


def _lengths(tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    return [len(ids) for ids in tokenizer.encode_batch(texts)]


def _look(tokenizer: Tokenizer, texts: dict[str, list[str]]) -> dict[str, Any]:
    """The mean length by language, and how many sentences have each length: counts[n] of n tokens."""
    counts = {lang: np.bincount(_lengths(tokenizer, texts[lang])).tolist() for lang in LANGUAGES}
    return {"vocab_size": tokenizer.vocab_size, "mean": _means(tokenizer, texts), "counts": counts}


def _merged(tokenizer: Tokenizer, number: int) -> list[str]:
    """The first merges that are whole characters: bytes of a Hangul syllable merge earlier, and are unreadable."""
    pieces = (tokenizer.piece(token) for token in range(BYTES, tokenizer.vocab_size))
    return [piece for piece in pieces if "<" not in piece][:number]


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Histogram above, kinds and merges below."""
    figure = theme.figure(9, 7)
    panels = figure.subplot_mosaic([["lengths", "lengths"], ["kinds", "merges"]])
    left, right = panels["kinds"], panels["merges"]
    _draw_lengths(panels["lengths"], data, theme, words)
    kinds = list(data["kinds"])
    groups = {words(lang): [data["kinds"][kind]["mean"][lang] for kind in kinds] for lang in LANGUAGES}
    bars(left, theme, [words(f"kind_{kind}") for kind in kinds], groups, form=".1f")
    left.set_title(words("kinds"))
    sizes = [row["vocab_size"] for row in data["merges"]]
    lines(right, theme, sizes, {words(lang): [row[lang] for row in data["merges"]] for lang in LANGUAGES}, form=".1f")
    logarithmic(right, "x", base=2)
    right.set_ylim(bottom=0)
    right.set(title=words("merges"), xlabel=words("vocab_size"))
    return figure


def _draw_lengths(axes: Axes, data: Data, theme: Theme, words: PictureWords) -> None:
    """A bar for each length and language."""
    counts = data["kinds"]["bpe"]["counts"]
    longest = max(len(counts[lang]) for lang in LANGUAGES)
    for number, lang in enumerate(LANGUAGES):
        shares = [count / sum(counts[lang]) for count in counts[lang]]
        places = [length + (number - 0.5) * 0.42 for length in range(len(shares))]
        drawn = axes.bar(places, shares, 0.4, color=theme.series[number], label=words(lang))
        for length, bar in enumerate(drawn):
            hover(bar, f"{words(lang)} · {length}: {shares[length]:.1%}")
    axes.set_xlim(0, min(longest, 36))
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.set(title=words("lengths"), xlabel=words("tokens"))
    axes.grid(visible=False, axis="x")
    axes.legend()


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    equation=r"(a,b)=\operatorname*{arg\,max}_{(x,y)}\,\mathrm{count}(xy),\qquad V\leftarrow V\cup\{ab\}",
    formula="(a, b) = argmax count(x y);  V ← V ∪ {ab}",
    paper="§5.1",
    sources=("text/bpe.py", "text/sentencepiece.py", "text/characters.py"),
    picture="tokenizer_length_distribution",
)
