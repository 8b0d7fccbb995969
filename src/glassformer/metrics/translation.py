"""How good translations are: BLEU, chrF and TER with their intervals, and exact matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from statistics import fmean
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from glassformer.errors import InputError
from glassformer.metrics.interval import Proportion, wilson


@dataclass(frozen=True)
class Outputs:
    """One reference for each translation; an empty translation is a bad one, not an error.

    `teacher_forced` marks output that was not translated: at every position the model was given the reference's own
    words so far. It gets the reference's length and word order for free, so its "BLEU" has no meaning, although some
    tutorials report it.
    """

    hypotheses: Sequence[str]
    references: Sequence[str]
    teacher_forced: bool = False

    def __post_init__(self) -> None:
        if len(self.hypotheses) != len(self.references):
            raise InputError("score_counts", hypotheses=len(self.hypotheses), references=len(self.references))
        if not self.hypotheses:
            raise InputError("score_nothing")

    def __len__(self) -> int:
        return len(self.hypotheses)


def refuse_teacher_forced(outputs: Outputs) -> None:
    """Raises for teacher-forced output; called by every score of translations."""
    if outputs.teacher_forced:
        raise InputError("teacher_forced_bleu")


RESAMPLES = 1000
SEED = 12345  # sacreBLEU's own


@dataclass(frozen=True)
class Score:
    """A score with its 95 % interval, and the signature without which it cannot be compared."""

    value: float
    low: float
    high: float
    signature: str


def bleu(
    outputs: Outputs, tokenize: str = "13a", lowercase: bool = False, resamples: int = RESAMPLES, seed: int = SEED
) -> Score:
    r"""BLEU (Papineni et al. 2002) on detokenised text, as Post (2018) asks for.

        BLEU = BP · exp(¼ Σ_{n≤4} log p_n),   BP = min(1, e^{1 - r/c})

    p_n is the share of n-grams of all translations together that occur in their references: a property of the corpus,
    not a mean over sentences.
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
    was drawn, times its statistics: nothing is tokenised twice.
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


def exact_match(outputs: Outputs) -> Proportion:
    """How many equal their reference, ignoring blanks around them; case and punctuation count."""
    refuse_teacher_forced(outputs)
    pairs = zip(outputs.hypotheses, outputs.references, strict=True)
    return wilson(sum(line.strip() == reference.strip() for line, reference in pairs), len(outputs))


HYPHEN = re.compile(r"(\S)-(\S)")


@dataclass(frozen=True)
class Convention:
    """One convention, explained by `forensics.KEY` in words/. Without its package there is no value."""

    key: str
    value: float | None
    signature: str
    missing: str = ""  # the package to install


def forensics(hypotheses: Sequence[str], references: Sequence[str], language: str = "de") -> list[Convention]:
    """Every convention on the same detokenised output; `language` is that of the target, for Moses' abbreviations."""
    return by_convention(Outputs(hypotheses, references), language)


def by_convention(outputs: Outputs, language: str = "de") -> list[Convention]:
    """The same for outputs that know whether they were teacher-forced."""
    refuse_teacher_forced(outputs)
    return [_row(key, outputs, language) for key in METRICS]


def _row(key: str, outputs: Outputs, language: str) -> Convention:
    metric, before = METRICS[key](), ""
    if key in PREPARED:
        if find_spec("sacremoses") is None:
            return Convention(key, None, "", missing="sacremoses")
        outputs, before = PREPARED[key](outputs, language), f"moses:{language}|sacremoses:{version('sacremoses')}|"
    if key == "compound":
        before += "hyphens:split|"
    if key == "sentences":
        value = _mean_of_sentences(metric, outputs)
        return Convention(key, value, f"mean:sentences|{metric.get_signature()}")
    value = float(metric.corpus_score(list(outputs.hypotheses), [list(outputs.references)]).score)
    return Convention(key, value, f"{before}{metric.get_signature()}")


def _mean_of_sentences(metric: BLEU, outputs: Outputs) -> float:
    """Rewards short sentences and depends on the smoothing; users of NLTK's sentence_bleu report it without knowing."""
    pairs = zip(outputs.hypotheses, outputs.references, strict=True)
    return fmean(float(metric.sentence_score(line, [reference]).score) for line, reference in pairs)


def _moses(outputs: Outputs, language: str) -> Outputs:
    """Lower-case, then tokenizer.perl: multi-bleu.perl of that is what papers on Multi30k call BLEU4."""
    tokenise = _tokeniser(language)
    return _changed(outputs, lambda line: tokenise(line.lower()))


def _compound(outputs: Outputs, language: str) -> Outputs:
    """tensor2tensor's get_ende_bleu.sh: plain punctuation, tokenizer.perl, "rich-text" → "rich ##AT##-##AT## text"."""
    from sacremoses import MosesPunctNormalizer

    tokenise, plain = _tokeniser(language), MosesPunctNormalizer().replace_unicode_punct
    return _changed(outputs, lambda line: HYPHEN.sub(r"\1 ##AT##-##AT## \2", tokenise(plain(line))))


def _tokeniser(language: str) -> Callable[[str], str]:
    from sacremoses import MosesTokenizer

    return partial(MosesTokenizer(lang=language).tokenize, return_str=True)


def _changed(outputs: Outputs, change: Callable[[str], str]) -> Outputs:
    return Outputs(list(map(change, outputs.hypotheses)), list(map(change, outputs.references)))


# `force` only silences a warning about tokenised text, which is intended here. multi-bleu.perl does not smooth,
# sacreBLEU does by default.
METRICS: dict[str, Callable[[], BLEU]] = {
    "sacrebleu": partial(BLEU, tokenize="13a", force=True),
    "lowercase": partial(BLEU, tokenize="13a", lowercase=True, force=True),
    "moses": partial(BLEU, tokenize="none", lowercase=True, smooth_method="none", force=True),
    "compound": partial(BLEU, tokenize="none", smooth_method="none", force=True),
    "international": partial(BLEU, tokenize="intl", force=True),
    "characters": partial(BLEU, tokenize="char", force=True),
    "sentences": partial(BLEU, tokenize="13a", effective_order=True, force=True),
}
PREPARED: dict[str, Callable[[Outputs, str], Outputs]] = {"moses": _moses, "compound": _compound}
