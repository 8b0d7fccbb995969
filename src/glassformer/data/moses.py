"""Text prepared as in the older literature: Moses tokens, lower case. Only if a recipe asks for it."""

from __future__ import annotations

from collections.abc import Callable

from glassformer.data.pairs import Pairs
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
    of_source, of_target = _side(source, tokens, lower), _side(target, tokens, lower)
    return lambda pairs: Pairs(
        [of_source(s) for s in pairs.sources], [of_target(t) for t in pairs.targets], pairs.skipped
    )


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
