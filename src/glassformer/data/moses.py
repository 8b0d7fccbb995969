"""Text prepared as in the older literature: Moses tokens, lower case. Only if a recipe asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from glassformer.data.pairs import Pairs
from glassformer.data.stored_texts import StoredTexts
from glassformer.errors import ConfigError, choose

PREPARATIONS = {
    "none": (False, False),
    "lowercase": (False, True),
    "moses": (True, False),
    "moses-lowercase": (True, True),
}


def prepared_side(how: str, language: str) -> Callable[[str], str]:
    """The preparation of every sentence of one language before it becomes tokens."""
    tokens, lower = choose("prepare", how, PREPARATIONS)
    return _side(language, tokens, lower) if tokens or lower else lambda text: text


def preparation(how: str, source: str, target: str) -> Callable[[Pairs], Pairs]:
    """The preparation of every pair before it becomes tokens."""
    tokens, lower = choose("prepare", how, PREPARATIONS)
    if not tokens and not lower:
        return lambda pairs: pairs
    prepared_side(how, source)  # raises now if the package is missing
    return lambda pairs: Pairs(
        prepared_texts(pairs.sources, how, source), prepared_texts(pairs.targets, how, target), pairs.skipped
    )


def prepared_texts(texts: Sequence[str], how: str, language: str) -> Sequence[str]:
    """All texts prepared; those in the cache when they are read."""
    if isinstance(texts, StoredTexts):
        return texts.changed(how, language)
    change = prepared_side(how, language)
    return [change(text) for text in texts]


def _side(language: str, tokens: bool, lower: bool) -> Callable[[str], str]:
    if not tokens:
        return str.lower
    try:
        from sacremoses import MosesPunctNormalizer, MosesTokenizer
    except ImportError as error:
        raise ConfigError("needs_package", what="prepare=moses", package="glassformer[moses]") from error
    normalise, cut = MosesPunctNormalizer(language).normalize, MosesTokenizer(language).tokenize

    def change(text: str) -> str:
        found = str(cut(normalise(text.lower() if lower else text), return_str=True, escape=False))
        return found.lower() if lower else found

    return change
