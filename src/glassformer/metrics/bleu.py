"""BLEU, chrF and TER by sacreBLEU, at the level of the corpus, with signature and bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from glassformer.metrics.outputs import Outputs, refuse_teacher_forced

RESAMPLES = 1000
SEED = 12345  # sacreBLEU's own


@dataclass(frozen=True)
class Score:
    """A score with its 95 % interval, and the signature without which it cannot be compared with anyone's."""

    value: float
    low: float
    high: float
    signature: str


def bleu(
    outputs: Outputs, tokenize: str = "13a", lowercase: bool = False, resamples: int = RESAMPLES, seed: int = SEED
) -> Score:
    r"""BLEU (Papineni et al. 2002) on detokenised text, as Post (2018) asks for.

        BLEU = BP · exp(¼ Σ_{n≤4} log p_n),   BP = min(1, e^{1 - r/c})

    p_n is the share of n-grams of all translations together that stand in their references: a property of the
    corpus, not a mean over sentences.
    """
    return score(BLEU(tokenize=tokenize, lowercase=lowercase, force=True), outputs, resamples, seed)


def chrf(outputs: Outputs, word_order: int = 0, resamples: int = RESAMPLES, seed: int = SEED) -> Score:
    """chrF (Popović 2015): F₂ of character 6-grams; with word_order=2, chrF++. Kinder to Korean endings than BLEU."""
    return score(CHRF(word_order=word_order), outputs, resamples, seed)


def ter(outputs: Outputs, resamples: int = RESAMPLES, seed: int = SEED) -> Score:
    """TER (Snover et al. 2006): edits and shifts per word of the reference, in per cent; less is better."""
    return score(TER(), outputs, resamples, seed)


def score(metric: Metric, outputs: Outputs, resamples: int = RESAMPLES, seed: int = SEED) -> Score:
    """A metric of sacreBLEU with the interval between the 2.5 % and 97.5 % points of the resampled scores.

    Sentences are drawn with replacement. A score depends only on sums over sentences, so a resample is how often each
    was drawn, times the statistics of each: nothing is tokenised twice.
    """
    refuse_teacher_forced(outputs)
    rows: Any = metric._extract_corpus_statistics(list(outputs.hypotheses), [list(outputs.references)])
    value = float(metric._aggregate_and_compute(rows).score)
    statistics, count = np.array(rows, dtype=np.float64), len(outputs)
    random, chances = np.random.default_rng(seed), np.full(count, 1 / count)
    drawn = (random.multinomial(count, chances) @ statistics for _ in range(resamples))
    scores = [float(metric._compute_score_from_stats(list(sums)).score) for sums in drawn]
    low, high = np.quantile(scores, (0.025, 0.975)) if scores else (value, value)
    return Score(value, float(low), float(high), str(metric.get_signature()))
