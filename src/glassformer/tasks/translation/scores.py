"""All scores of one set of translations, each with its interval; the convention of BLEU follows the text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from glassformer.config.recipe import DataConfig
from glassformer.metrics.interval import Proportion
from glassformer.metrics.language import Surprise
from glassformer.metrics.translation import Outputs, Score, bleu, chrf, exact_match, ter

CHARACTERS = ("ko", "ja", "zh")  # words include their particles, or are not separated by spaces


@dataclass(frozen=True)
class TranslationScores:
    """The scores of some translations. `characters` is BLEU on characters, for the languages of CHARACTERS."""

    sentences: int
    bleu: Score
    chrf: Score
    ter: Score
    exact: Proportion
    surprise: Surprise
    characters: Score | None = None

    def to_json(self) -> dict[str, Any]:
        """The values by name, then the same with their intervals and signatures under `details`."""
        scores = {"bleu": self.bleu, "chrf": self.chrf, "ter": self.ter}
        if self.characters is not None:
            scores["bleu_characters"] = self.characters
        return {
            **{name: score.value for name, score in scores.items()},
            "signature": self.bleu.signature,
            "exact": self.exact.value,
            "sentences": self.sentences,
            "loss": self.surprise.nats,
            "perplexity": self.surprise.perplexity,
            "tokens": self.surprise.tokens,
            "details": {name: asdict(score) for name, score in scores.items()} | {"exact": asdict(self.exact)},
        }


def score_outputs(outputs: Outputs, surprise: Surprise, data: DataConfig) -> TranslationScores:
    """BLEU is sacreBLEU's 13a, cased, except on text already split into Moses tokens, which is taken as it is.

    Splitting tokens again would follow no convention. The preparation of the text comes before the signature, so that a
    lower-cased score cannot be mistaken for a cased one.
    """
    tokenised = data.prepare.startswith("moses")
    main = bleu(outputs, tokenize="none" if tokenised else "13a")
    if data.prepare != "none":
        main = replace(main, signature=f"prepare:{data.prepare}|{main.signature}")
    wants_characters = data.target_language in CHARACTERS
    return TranslationScores(
        sentences=len(outputs),
        bleu=main,
        chrf=chrf(outputs),
        ter=ter(outputs),
        exact=exact_match(outputs),
        surprise=surprise,
        characters=bleu(outputs, tokenize="char") if wants_characters else None,
    )
