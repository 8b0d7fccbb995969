"""Sample translations at every evaluation: the translations so far, how good they are, and the attention."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import nn

from glassformer.data.pairs import Pairs
from glassformer.metrics.translation import Outputs, bleu, exact_match
from glassformer.runs import Run
from glassformer.tasks.samples import SHOWN, Sample, attention_file, write_samples
from glassformer.tasks.search import GREEDY, SearchOptions
from glassformer.tasks.translation.task import Sentences
from glassformer.tasks.translation.translate import as_trained, candidates
from glassformer.text import Frame, Vocabularies
from glassformer.trace.record import record
from glassformer.trace.trace import Trace

SCORED = 50  # sentences that are scored
ATTENTION = "*.cross_attention.weights"


@dataclass(frozen=True)
class TranslationSamples:
    """`Training.measure` of a translator: translates the same sentences greedily at every evaluation, to compare steps.

    Writes samples/step-00000500.json and, for the first sentence, samples/step-00000500.attention.safetensors. The
    mean of the last checkpoints, evaluated at the very end, replaces the samples of the last step.
    """

    run: Run
    vocabularies: Vocabularies
    pairs: Pairs
    shown: int = SHOWN

    def __call__(self, model: nn.Module, step: int) -> dict[str, float]:
        found = candidates(model, self.vocabularies, self.pairs.sources, self.search)
        outputs = Outputs([best.text for best, *_ in found], self.pairs.targets)
        rows = map(Sample, self.pairs.sources, self.pairs.targets, outputs.hypotheses)
        samples = [sample for sample, _ in zip(rows, range(self.shown), strict=False)]
        write_samples(self.run, step, [asdict(sample) for sample in samples])
        self.attention(model, samples[0]).save(attention_file(self.run, step))
        return {"sample_bleu": _bleu(outputs), "exact": exact_match(outputs).value}

    @property
    def search(self) -> SearchOptions:
        return as_trained(GREEDY, self.run.config)

    def attention(self, model: nn.Module, sample: Sample) -> Trace:
        """The weights of every cross-attention, b h t s: from bos and each token said so far to the framed source.

        `tokens` of the trace are those of the source, s, followed by those of the target, t.
        """
        source, target = self.vocabularies.source, self.vocabularies.target
        device, room = next(model.parameters()).device, self.run.config.model.max_len
        ids = Frame.of(self.run.config, source.specials).around(source.encode(sample.source))
        said = Frame.of_target(self.run.config, target.specials).begun(target.encode(sample.translation))[:room]
        with record(model, ATTENTION) as trace:
            model(torch.tensor([ids], device=device), torch.tensor([said], device=device))
        trace.tokens = [*map(source.piece, ids), *map(target.piece, said)]
        return trace


def sample_translations(run: Run, material: Sentences) -> TranslationSamples | None:
    """At every evaluation, translate some of the validation sentences."""
    pairs = chosen(material.validation_texts, np.ones(len(material.validation_texts), dtype=bool))
    return TranslationSamples(run, material.vocabularies, pairs) if len(pairs) else None


def _bleu(outputs: Outputs) -> float:
    """NaN if even the references would get 0: BLEU counts runs of four words, and none is that long."""
    perfect = Outputs(outputs.references, outputs.references)
    return bleu(outputs, resamples=0).value if bleu(perfect, resamples=0).value else math.nan


def chosen(pairs: Pairs, fits: np.ndarray, shown: int = SHOWN, scored: int = SCORED) -> Pairs:
    """The first few that fit, and others spread evenly over the rest, because a file may be sorted."""
    usable = np.flatnonzero(fits)
    first, rest = usable[:shown], usable[shown:]
    spread = np.linspace(0, len(rest) - 1, min(scored - len(first), len(rest))).round().astype(int)
    return pairs.chosen([*first.tolist(), *rest[spread].tolist()])
