"""The experiment of encoder_attention: deeper encoders of several seeds, where they look and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.data import grammar
from glassformer.data.batch import PairBatch
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.stacks.contribution import slope
from glassformer.lessons.stacks.probes import probe
from glassformer.lessons.stacks.sentences import batch_of, held_out
from glassformer.lessons.stacks.small_translators import SmallTranslators
from glassformer.lessons.statistics import differences, interval
from glassformer.models.build import build
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.trace.record import record

LAYERS = {"model.n_encoder_layers": 4, "model.n_decoder_layers": 2}
FIT, JUDGED = 1500, 300  # sentences that the probes are fitted to, and judged on
MEASURES = ("entropy", "distance", "surface", "structure")


class SentenceGroup(NamedTuple):
    """Sentences, as tokens and by the construction that the grammar made them with."""

    batch: PairBatch
    constructions: Tensor  # b

    @property
    def real(self) -> Tensor:
        mask = self.batch.source_mask  # b s
        return torch.ones_like(self.batch.source, dtype=torch.bool) if mask is None else mask


def depth(setup: LessonSetup) -> dict[str, Any]:
    """For every measure a curve over the layers, mean and interval over the seeds, and the slope of each seed.

    Beside it the same for the same models as they were built, and what training adds to their slopes.
    """
    translators = SmallTranslators(setup, LAYERS)
    fitted = grammar.pairs("train", setup.some(FIT, 100), level="small")
    fit, judged = _groups(translators, [fitted, held_out(setup.some(JUDGED, 30))])
    before, after, accuracy = [], [], []
    for seed, outcome in translators.each():
        after.append(look(outcome.model, fit, judged))
        before.append(look(build(outcome.config.model, seed=seed).eval(), fit, judged))
        accuracy.append(outcome.validation["accuracy"])
    trained, untrained = _over(after), _over(before)
    slopes = trained["slopes"], untrained["slopes"]
    return {
        "depth": LAYERS["model.n_encoder_layers"],
        **trained,
        "untrained": untrained,
        "added": differences(slopes[0], slopes[1], MEASURES),
        "accuracy": interval(accuracy),
        "steps": translators.material.config.train.steps,
        "d_model": translators.material.config.model.d_model,
        "judged": len(judged.constructions),
        "fitted": len(fit.constructions),
        "constructions": int(torch.cat([fit.constructions, judged.constructions]).max()) + 1,
        "commonest": float(judged.constructions.bincount().max() / len(judged.constructions)),
    }


def _over(seen: Sequence[dict[str, list[float]]]) -> dict[str, Any]:
    """Curves and slopes of several models; a slope is over the layers alone, without what enters the first."""
    layers = LAYERS["model.n_encoder_layers"]
    return {
        "curves": {
            name: [interval(list(at)) for at in zip(*(one[name] for one in seen), strict=True)] for name in MEASURES
        },
        "slopes": {name: interval([slope(one[name][-layers:]) for one in seen]) for name in MEASURES},
    }


def _groups(translators: SmallTranslators, several: Sequence[Sequence[grammar.GrammarPair]]) -> list[SentenceGroup]:
    names = sorted({pair.tags.construction for pairs in several for pair in pairs})
    material = translators.material
    return [
        SentenceGroup(
            batch_of(material.config, material.vocabularies, pairs),
            torch.tensor([names.index(pair.tags.construction) for pair in pairs]),
        )
        for pairs in several
    ]


def look(model: nn.Module, fit: SentenceGroup, judged: SentenceGroup) -> dict[str, list[float]]:
    """Entropy and distance for each layer; the probes for what enters the first layer, then for each layer."""
    weights, judged_at = _pass(model, judged)
    _, fit_at = _pass(model, fit)
    found: dict[str, list[float]] = {
        "entropy": [entropy(one, judged.real) for one in weights],
        "distance": [distance(one, judged.real) for one in weights],
        "surface": [],
        "structure": [],
    }
    for here, there in zip(fit_at, judged_at, strict=True):
        tokens = fit.batch.source[fit.real], judged.batch.source[judged.real]
        found["surface"].append(probe(here[fit.real], tokens[0], there[judged.real], tokens[1]))
        found["structure"].append(probe(here[:, 0], fit.constructions, there[:, 0], judged.constructions))
    return found


def _pass(model: nn.Module, group: SentenceGroup) -> tuple[list[Tensor], list[Tensor]]:
    """The weights of every layer, and the stream before the first layer and behind each."""
    assert isinstance(model, EncoderDecoder)
    names = ["encoder.input", *(f"encoder.blocks.{i}.output" for i in range(len(model.encoder.blocks)))]
    with torch.no_grad(), record(model, [*names, "encoder.*.weights"]) as trace:
        model.encode(group.batch.source, group.batch.source_mask)
    return trace.attention(), [trace[name] for name in names]


def entropy(weights: Tensor, real: Tensor) -> float:
    """H = − Σ_s w_s log₂ w_s in bits, averaged over heads and real tokens: how many tokens are looked at."""
    bits = -torch.xlogy(weights, weights).sum(-1) / torch.log(torch.tensor(2.0))  # b h t
    return float(bits.mean(1)[real].mean())


def distance(weights: Tensor, real: Tensor) -> float:
    """Σ_s w_s |t − s| in tokens, averaged over heads and real tokens: how far away they are."""
    places = torch.arange(weights.shape[-1])
    apart = (places[:, None] - places).abs().to(weights)  # t s
    return float((weights * apart).sum(-1).mean(1)[real].mean())
