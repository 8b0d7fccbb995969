"""The experiment of transformer_attention: word alignments read off cross-attention, and baselines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.recipe import RunConfig
from glassformer.data import grammar
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
from glassformer.lessons.stacks.sentences import batch_of
from glassformer.lessons.stacks.small_translators import SmallTranslators
from glassformer.lessons.statistics import difference, interval
from glassformer.loading import Loaded
from glassformer.models.build import build
from glassformer.text import Vocabularies
from glassformer.trace.record import record

LAYERS = {"model.n_encoder_layers": 2, "model.n_decoder_layers": 2}
READINGS = ("best", "mean")
BASELINES = ("diagonal", "chance", "untrained")
ROWS = {"said": 0, "read": 1}  # the row before a token says it, the row of the token itself has read it


class Aligner:
    """The alignments of one translator on sentences whose right alignment is known."""

    def __init__(self, model: nn.Module, config: RunConfig, vocabularies: Vocabularies) -> None:
        self.model, self.config, self.vocabularies = model, config, vocabularies

    def judge(self, choosing: Sequence[grammar.GrammarPair], judged: Sequence[grammar.GrammarPair]) -> dict[str, Any]:
        """Choose on the first sentences, measure on the others: the best head, and the mean of all."""
        found = self.links(choosing)
        rates = {key: error_rate(links, map(right, choosing)) for key, links in found.items()}
        best = min(rates, key=lambda key: rates[key])
        mean = min((key for key in rates if key[0] == "all"), key=lambda key: rates[key])
        links = self.links(judged)
        every = {" ".join(key): error_rate(links[key], map(right, judged)) for key in (best, mean)}
        return {"best": every[" ".join(best)], "mean": every[" ".join(mean)], "choice": list(best)}

    def links(self, pairs: Sequence[grammar.GrammarPair]) -> dict[tuple[str, str, str], list[Links]]:
        """By (layer, head, row): one set of links for each sentence."""
        found: dict[tuple[str, str, str], list[Links]] = {}
        for pair, weights in zip(pairs, self.weights(pairs), strict=True):  # layers heads t s
            words = self.words(pair)
            for key, one in _readings(weights).items():
                for row, shift in ROWS.items():
                    found.setdefault((*key, row), []).append(strongest(word_weights(one[shift:], *words)))
        return found

    def words(self, pair: grammar.GrammarPair) -> tuple[list[int], list[int]]:
        """For each piece of either side, which word it belongs to."""
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
    """The weights between the words of one sentence, by the head that was chosen."""
    aligner = Aligner(loaded.model, loaded.config, loaded.vocabularies)
    layer, head, row = choice
    weights = _readings(aligner.weights([pair])[0])[layer, head][ROWS[row] :]
    found: list[list[float]] = word_weights(weights, *aligner.words(pair)).tolist()
    return found


def measure_seeds(
    setup: LessonSetup, choosing: Sequence[grammar.GrammarPair], judged: Sequence[grammar.GrammarPair]
) -> dict[str, Any]:
    """One small translator for each seed, and the same before its training; then what needs no model."""
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
