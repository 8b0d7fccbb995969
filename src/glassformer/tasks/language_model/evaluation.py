"""How well a language model predicts a text: per token, per character, and compared with n-grams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np

from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents, together
from glassformer.data.store import TokenIds
from glassformer.loading import Loaded
from glassformer.metrics.interval import Proportion, wilson
from glassformer.metrics.language import HIGHEST, NGrams, Surprise, bits_per_character, perplexity
from glassformer.show import Sheet
from glassformer.tasks.language_model.sliding import Foreseen, foresee
from glassformer.tasks.language_model.task import WindowOptions, joined
from glassformer.tasks.result import Evaluation, EvaluationOptions, Groups, number_columns, percent
from glassformer.words import say

COLUMNS = ("group", "tokens", "characters", "loss", "perplexity", "bits", "n_gram", "accuracy")
DROPPED = {"perplexity": 1, "characters": 2}  # perplexity is e to the loss


@dataclass(frozen=True, kw_only=True)
class WritingScores:
    """The scores of some texts. `in_windows`: nats per token in windows without overlap, as in training.

    `n_grams`: bits per character of n-grams of each order, on the same characters.
    """

    surprise: Surprise
    bits_per_character: float
    characters: int
    accuracy: Proportion
    in_windows: float
    n_grams: Mapping[int, float]

    def to_json(self) -> dict[str, Any]:
        return {
            "loss": self.surprise.nats,
            "perplexity": self.surprise.perplexity,
            "bits_per_character": self.bits_per_character,
            "accuracy": self.accuracy.value,
            "loss_in_windows": self.in_windows,
            "tokens": self.surprise.tokens,
            "characters": self.characters,
            "n_grams": {str(order): bits for order, bits in self.n_grams.items()},
            "details": {"accuracy": asdict(self.accuracy)},
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class LanguageModelEvaluation(Evaluation[WritingScores]):
    """See `Evaluation`; the model only predicts, it writes nothing. `order`: of n-grams, chosen on validation texts."""

    context: int
    order: int

    def to_json(self) -> dict[str, Any]:
        beside = {"order": self.order, "bits_per_character": self.total.n_grams[self.order]}
        return {
            **self.total.to_json(),
            "n_gram": beside,
            **self.where,
            "context": self.context,
            **self.by_group,
        }

    @property
    def kept(self) -> dict[str, Any]:
        about = self.to_json()
        return {key: about[key] for key in (*self.total.to_json(), "n_gram", "context")}

    def shown(self, lang: str | None = None) -> Sheet:
        columns = number_columns(COLUMNS, lambda key: say(f"writing.{key}", lang, order=self.order), DROPPED)
        return Sheet(self.table(columns, self._cells, lang), *self.notes(lang))

    def _cells(self, scores: WritingScores) -> list[str]:
        return [
            f"{scores.surprise.tokens:,}",
            f"{scores.characters:,}",
            f"{scores.surprise.nats:.4f}",
            f"{scores.surprise.perplexity:.4g}",
            f"{scores.bits_per_character:.4f}",
            f"{scores.n_grams[self.order]:.4f}",
            percent(scores.accuracy),
        ]

    def notes(self, lang: str | None) -> list[str]:
        """What the numbers mean, whether the n-grams are beaten, and how often the split was read."""
        ours, counted = self.total.bits_per_character, self.total.n_grams[self.order]
        orders = ", ".join(f"{order}: {bits:.4f}" for order, bits in self.total.n_grams.items())
        key, difference = "writing.below" if ours < counted else "writing.not_below", f"{abs(counted - ours):.4f}"
        return [
            say("writing.about", lang, half=self.context // 2, context=self.context),
            say("writing.in_windows", lang, loss=f"{self.total.in_windows:.4f}", context=self.context),
            say("writing.orders", lang, orders=orders, order=self.order),
            *([say("writing.longest", lang)] if self.order == HIGHEST else []),
            say(key, lang, difference=difference),
            *self.reading_notes(lang),
        ]


def evaluate_language_model(loaded: Loaded, split: str, options: EvaluationOptions) -> LanguageModelEvaluation:
    """Every token of a split, each predicted from at least half a context (the first ones from whatever precedes them).

    Bits per character are Σ −log₂ p over the number of characters; the ends of texts are predicted but are not
    characters. So models with different tokens can be compared, and with n-grams fitted on the training texts alone.
    """
    texts = document_corpus(loaded.config.data)
    groups = Groups.of(loaded, split, texts.split(split), size=lambda some: some.characters)
    reading = WindowOptions.of(loaded.config)
    baseline = NGrams.fit(texts.train.texts, closed=reading.packed)
    validation = texts.validation if texts.validation.characters else texts.train
    order = baseline.best_order(validation.texts)
    judged = _Judge(loaded, reading, baseline, options)
    scores = {name: judged(some) for name, some in groups.every.items()}
    main = groups.main
    total = scores[main[0]] if len(main) == 1 else judged(together(groups.every[name] for name in main))
    return LanguageModelEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=total,
        groups=scores,
        apart=groups.apart,
        context=reading.context,
        order=order,
    )


@dataclass(frozen=True)
class _Judge:
    """Texts → their scores."""

    loaded: Loaded
    reading: WindowOptions
    baseline: NGrams
    options: EvaluationOptions

    def __call__(self, texts: Documents) -> WritingScores:
        model, context = self.loaded.model, self.reading.context
        rows, given = self._rows(texts.texts)
        found = foresee(model, rows, context, progress=self.options.progress)
        longer = any(len(row) > context + 1 for row in rows)
        side_by_side: Foreseen = foresee(model, rows, context, context) if longer else found
        characters = texts.characters - given
        counted = self.baseline.nats(texts.texts, given)
        return WritingScores(
            surprise=perplexity(found.nats, found.tokens),
            bits_per_character=bits_per_character(found.nats, characters),
            characters=characters,
            accuracy=wilson(found.right, found.tokens),
            in_windows=side_by_side.nats / side_by_side.tokens,
            n_grams={order: nats / log(2) / characters for order, nats in counted.items()},
        )

    def _rows(self, texts: Sequence[str]) -> tuple[list[TokenIds], int]:
        """The texts as the model reads them, and the number of given characters: those of a stream's first token."""
        tokenizer = self.loaded.tokenizer
        coded = tokenizer.encode_batch(texts)
        if not self.reading.packed:
            return [joined(coded, tokenizer.specials)], tokenizer.spans(texts[0][:100])[0][1]
        return [np.array(self.loaded.frame.around(tokens), dtype=np.int32) for tokens in coded], 0
