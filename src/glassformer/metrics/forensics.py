"""One output, several BLEUs: the conventions under which papers have reported it, side by side with signatures.

The same translations can differ by several points between two of these; none is wrong, only the comparison is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from statistics import fmean

from sacrebleu.metrics.bleu import BLEU

from glassformer.metrics.outputs import Outputs, refuse_teacher_forced

HYPHEN = re.compile(r"(\S)-(\S)")


@dataclass(frozen=True)
class Row:
    """One convention; what it is says `forensics.KEY` of words/. Without its package there is no value."""

    key: str
    value: float | None
    signature: str
    missing: str = ""  # the package to install


def forensics(hypotheses: Sequence[str], references: Sequence[str], language: str = "de") -> list[Row]:
    """Every convention on the same detokenised output; `language` is that of the target, for Moses' abbreviations."""
    return judge(Outputs(hypotheses, references), language)


def judge(outputs: Outputs, language: str = "de") -> list[Row]:
    """The same for outputs that know whether they were teacher-forced."""
    refuse_teacher_forced(outputs)
    return [_row(key, outputs, language) for key in METRICS]


def _row(key: str, outputs: Outputs, language: str) -> Row:
    metric, before = METRICS[key](), ""
    if key in PREPARED:
        if find_spec("sacremoses") is None:
            return Row(key, None, "", missing="sacremoses")
        outputs, before = PREPARED[key](outputs, language), f"moses:{language}|sacremoses:{version('sacremoses')}|"
    if key == "compound":
        before += "hyphens:split|"
    if key == "sentences":
        value = _mean_of_sentences(metric, outputs)
        return Row(key, value, f"mean:sentences|{metric.get_signature()}")
    value = float(metric.corpus_score(list(outputs.hypotheses), [list(outputs.references)]).score)
    return Row(key, value, f"{before}{metric.get_signature()}")


def _mean_of_sentences(metric: BLEU, outputs: Outputs) -> float:
    """Rewards short sentences and depends on the smoothing; users of NLTK's sentence_bleu report it unawares."""
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


# `force` only silences a warning about text that is already tokenised: here it is, on purpose. multi-bleu.perl does
# not smooth, sacreBLEU's default does.
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
