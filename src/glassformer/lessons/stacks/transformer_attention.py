"""One translation on one page: encoder, decoder and cross-attention, and whether cross-attention aligns words.

Claim cross-alignment; the rule is in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from glassformer.config.recipe import RunConfig
from glassformer.data import grammar
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.alignment import (
    Links,
    chance,
    diagonal,
    error_rate,
    least,
    strongest,
    word_weights,
    words_of,
)
from glassformer.lessons.stacks.sentences import HELD_OUT_SENTENCE, batch_of, teacher_forced, validation_sentences
from glassformer.lessons.stacks.small_translators import SmallTranslators
from glassformer.lessons.statistics import difference, interval
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, less
from glassformer.loading import Loaded
from glassformer.models.build import build
from glassformer.show.drawing import bars, colour_bar, heat, hover
from glassformer.show.theme import Theme
from glassformer.text import Vocabularies
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LAYERS = {"model.n_encoder_layers": 2, "model.n_decoder_layers": 2}
READINGS = ("best", "mean")
BASELINES = ("diagonal", "chance", "untrained")
ROWS = {"said": 0, "read": 1}  # the row that predicts a token is the one before it; its own row has read it
CHOOSING, JUDGED = 100, 200  # validation sentences to choose head and layer on, and others to evaluate on
PLAIN = 0.5  # below this error rate more than half of the links are right


def run(setup: LessonSetup) -> Data:
    """Alignments by several small translators and the trained one; then one of its sentences in full."""
    choosing, judged = setup.some(CHOOSING, 10), setup.some(JUDGED, 10)
    pairs = validation_sentences(choosing + judged)
    seeds = measure_seeds(setup, pairs[:choosing], pairs[choosing:])
    loaded = setup.model("ko-en")
    trained = Aligner(loaded.model, loaded.config, loaded.vocabularies).judge(pairs[:choosing], pairs[choosing:])
    return {**seeds, "trained": trained, "sentences": len(pairs) - choosing, "page": _page(loaded, trained)}


def _page(loaded: Loaded, trained: Data) -> dict[str, Any]:
    """A validation sentence with its reference, so that the grammar's alignment can be drawn over the weights."""
    pair = next(pair for pair in validation_sentences(40) if pair.source_ko == HELD_OUT_SENTENCE)
    followed = teacher_forced(loaded, pair.source_ko, pair.target_en)
    own, across = followed.trace.attention(), followed.trace.attention("cross_attention")
    encoder, decoder = own[: len(own) - len(across)], own[len(own) - len(across) :]
    last = decoder[-1][0].mean(0).tolist()
    return {
        "source_text": pair.source_ko,
        "target_text": pair.target_en,
        "source": followed.source,
        "target": followed.target,
        "encoder": encoder[-1][0].mean(0).tolist(),
        "decoder": [[value if j <= i else None for j, value in enumerate(row)] for i, row in enumerate(last)],
        "cross": across[-1][0].mean(0).tolist(),
        "words": chosen_map(loaded, pair, trained["choice"]),
        "source_words": pair.source_ko.split(" "),
        "target_words": pair.target_en.split(" "),
        "links": [list(link) for link in pair.alignment],
    }


# --- word alignments from cross-attention, and baselines ---


class Aligner:
    """The alignments of one translator on sentences whose right alignment is known."""

    def __init__(self, model: nn.Module, config: RunConfig, vocabularies: Vocabularies) -> None:
        self.model, self.config, self.vocabularies = model, config, vocabularies

    def judge(self, choosing: Sequence[grammar.GrammarPair], judged: Sequence[grammar.GrammarPair]) -> dict[str, Any]:
        """Choose on the first sentences, evaluate on the others: the best head, and the mean of all."""
        found = self.links(choosing)
        rates = {key: error_rate(links, map(right, choosing)) for key, links in found.items()}
        best = min(rates, key=lambda key: rates[key])
        mean = min((key for key in rates if key[0] == "all"), key=lambda key: rates[key])
        links = self.links(judged)
        every = {" ".join(key): error_rate(links[key], map(right, judged)) for key in (best, mean)}
        return {"best": every[" ".join(best)], "mean": every[" ".join(mean)], "choice": list(best)}

    def links(self, pairs: Sequence[grammar.GrammarPair]) -> dict[tuple[str, str, str], list[Links]]:
        """One set of links for each sentence, by (layer, head, row)."""
        found: dict[tuple[str, str, str], list[Links]] = {}
        for pair, weights in zip(pairs, self.weights(pairs), strict=True):  # layers heads t s
            words = self.words(pair)
            for key, one in _readings(weights).items():
                for row, shift in ROWS.items():
                    found.setdefault((*key, row), []).append(strongest(word_weights(one[shift:], *words)))
        return found

    def words(self, pair: grammar.GrammarPair) -> tuple[list[int], list[int]]:
        """For each piece of source and target, the number of its word."""
        source, target = self.vocabularies.source, self.vocabularies.target
        return words_of(source, pair.source_ko), words_of(target, pair.target_en)

    def weights(self, pairs: Sequence[grammar.GrammarPair]) -> Tensor:
        """Teacher-forced, all sentences at once: b layers heads t s."""
        batch = batch_of(self.config, self.vocabularies, pairs)
        with torch.no_grad(), record(self.model, "decoder.*.cross_attention.weights") as trace:
            self.model(batch.source, batch.target_in, batch.source_mask)
        return torch.stack(trace.attention("cross_attention"), 1)


def _readings(weights: Tensor) -> dict[tuple[str, str], Tensor]:
    """Every head, the mean of every layer, and the mean of all: t s each."""
    found = {("all", "mean"): weights.mean((0, 1))}
    for layer, heads in enumerate(weights):
        found[str(layer), "mean"] = heads.mean(0)
        found |= {(str(layer), str(head)): one for head, one in enumerate(heads)}
    return found


def right(pair: grammar.GrammarPair) -> Links:
    return frozenset(pair.alignment)


def sizes(pair: grammar.GrammarPair) -> tuple[int, int]:
    return len(pair.source_ko.split(" ")), len(pair.target_en.split(" "))


def chosen_map(loaded: Loaded, pair: grammar.GrammarPair, choice: Sequence[str]) -> list[list[float]]:
    """The weights between the words of one sentence in the chosen head."""
    aligner = Aligner(loaded.model, loaded.config, loaded.vocabularies)
    layer, head, row = choice
    weights = _readings(aligner.weights([pair])[0])[layer, head][ROWS[row] :]
    found: list[list[float]] = word_weights(weights, *aligner.words(pair)).tolist()
    return found


def measure_seeds(
    setup: LessonSetup, choosing: Sequence[grammar.GrammarPair], judged: Sequence[grammar.GrammarPair]
) -> dict[str, Any]:
    """One small translator for each seed, and the same before training; then the baselines without a model."""
    translators = SmallTranslators(setup, LAYERS)
    material = translators.material
    rates: dict[str, list[float]] = {name: [] for name in (*READINGS, *BASELINES)}
    links, shapes = [right(pair) for pair in judged], [sizes(pair) for pair in judged]
    fixed = {"diagonal": error_rate([diagonal(*shape) for shape in shapes], links), "chance": chance(links, shapes)}
    accuracy = []
    for seed, outcome in translators.each():
        found = Aligner(outcome.model, material.config, material.vocabularies).judge(choosing, judged)
        blank = build(material.config.model, seed=seed).eval()
        before = Aligner(blank, material.config, material.vocabularies).judge(choosing, judged)
        row = {**fixed, "best": found["best"], "mean": found["mean"], "untrained": before["best"]}
        for name, value in row.items():
            rates[name].append(value)
        accuracy.append(outcome.validation["accuracy"])
    return {
        "rates": {name: interval(values) for name, values in rates.items()},
        "against": {
            reading: {name: difference(rates[reading], rates[name]) for name in BASELINES} for reading in READINGS
        },
        "least": least(links),
        "accuracy": interval(accuracy),
        "steps": material.config.train.steps,
        "d_model": material.config.model.d_model,
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """Two readings, both fixed before the first result: the one best map, and the mean of all of them.

    Best: the layer, head (or mean of heads) and row (the one that predicts a word, or the one that reads it) with the
    fewest errors on sentences other than those evaluated. A reading aligns if, over the seeds, its error rate is below
    that of each baseline (diagonal, chance, the same model untrained with the same freedom to choose) and below 0.5, so
    that most links are right. The sides are the readings.
    """
    sides = {
        reading: {
            **{name: less(data["against"][reading][name]) for name in BASELINES},
            "plain": less(data["rates"][reading], PLAIN),
        }
        for reading in READINGS
    }
    measured = {name: data["rates"][name] for name in (*READINGS, *BASELINES)}
    measured |= {"least": data["least"], "seeds": data["rates"]["best"]["n"], "trained": data["trained"]["best"]}
    return {"cross-alignment": Verdict.of(sides, measured)}


RATES = ("best", "mean", "diagonal", "chance", "untrained")


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Encoder, decoder and cross-attention above; the words' alignment and the error rates below."""
    figure = theme.figure(10, 8)
    parts: Any = figure.subfigures(2, 1, height_ratios=(1, 1))
    upper, lower = parts
    page = data["page"]
    shown = {
        "encoder": (page["source"], page["source"]),
        "decoder": (page["target"], page["target"]),
        "cross": (page["target"], page["source"]),
    }
    panels = upper.subplots(1, 3)
    for axes, (name, (rows, columns)) in zip(panels, shown.items(), strict=True):
        heat(axes, theme, page[name], rows=rows, columns=columns, most=1.0, bar=None)
        axes.set_ylabel(words("asks"), fontsize=9)
        axes.tick_params(labelsize=8)
        axes.set_title(words(name), fontsize=10)
    colour_bar(panels, theme, 1.0, label=words("weight"))
    left, right = lower.subplots(1, 2, width_ratios=(1.1, 1))
    _alignment(left, theme, words, data)
    _rates(right, theme, words, data)
    return figure


def _alignment(axes: Axes, theme: Theme, words: PictureWords, data: Data) -> None:
    from matplotlib.patches import Rectangle

    page = data["page"]
    heat(
        axes,
        theme,
        page["words"],
        rows=page["target_words"],
        columns=page["source_words"],
        most=1.0,
        bar=words("weight"),
    )
    axes.set_ylabel(words(f"row_{data['trained']['choice'][-1]}"), fontsize=9)
    for source, target in page["links"]:
        frame = Rectangle((source - 0.45, target - 0.45), 0.9, 0.9, fill=False, edgecolor=theme.vermilion, linewidth=2)
        hover(frame, f"{page['target_words'][target]} = {page['source_words'][source]}")
        axes.add_patch(frame)
    axes.tick_params(labelsize=8)
    axes.set_title(words("alignment"), fontsize=10)


def _rates(axes: Axes, theme: Theme, words: PictureWords, data: Data) -> None:
    own = dict.fromkeys(("mean", "low", "high"), data["trained"]["best"])  # one model: its interval is a point
    values = {"": [own, *(data["rates"][name] for name in RATES)]}
    bars(axes, theme, [words(name) for name in ("trained", *RATES)], values, form=".2f", horizontal=True)
    axes.axvline(data["least"], color=theme.muted, linestyle="--", linewidth=1)
    axes.set_xlim(0, 1)
    axes.tick_params(labelsize=8.5)
    axes.set_title(words("rates"), fontsize=10)


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("cross-alignment",),
    models=("ko-en",),
    equation=r"\mathrm{AER}=1-\frac{2\,|A\cap G|}{|A|+|G|}",
    formula="AER = 1 − 2 |A ∩ G| / (|A| + |G|)",
    paper="§3.2.3",
    sources=("layers/attention/multi_head.py", "data/grammar/pair.py"),
    picture="transformer_attention_all",
)
