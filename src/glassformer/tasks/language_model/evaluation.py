"""How well a language model foresees a text: per token, per character, and beside n-grams that were counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents, together
from glassformer.data.store import Tokens
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.metrics.interval import Proportion, wilson
from glassformer.metrics.language import NGrams, Surprise, bits_per_character, perplexity
from glassformer.show import Sheet, as_html, as_text
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.evaluation_options import EvaluationOptions, set_apart
from glassformer.tasks.language_model import show
from glassformer.tasks.language_model.sliding import Foreseen, foresee
from glassformer.tasks.language_model.task import WindowOptions, joined


@dataclass(frozen=True, kw_only=True)
class WritingScores:
    """What is known about some texts. `in_windows`: nats per token in windows side by side, as training has them.

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


@dataclass(frozen=True, kw_only=True)
class LanguageModelEvaluation:
    """The scores of a split, of each of its groups and of all together but for `apart`; see `WritingScores`.

    `order`: of the n-grams, chosen on the validation texts.
    """

    folder: Path
    checkpoint: str
    split: str
    context: int
    order: int
    total: WritingScores
    groups: Mapping[str, WritingScores]
    apart: tuple[str, ...]
    readings: int

    @property
    def hypotheses(self) -> Mapping[str, list[str]]:
        """Nothing is said here, only foreseen."""
        return {}

    def to_json(self) -> dict[str, Any]:
        return {
            **self.total.to_json(),
            "n_gram": {"order": self.order, "bits_per_character": self.total.n_grams[self.order]},
            "run": str(self.folder),
            "checkpoint": self.checkpoint,
            "split": self.split,
            "readings": self.readings,
            "context": self.context,
            "groups": {name: scores.to_json() for name, scores in self.groups.items()},
            "apart": list(self.apart),
        }

    def __rich__(self) -> Sheet:
        return show.tables(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(show.tables(self))


def evaluate_language_model(loaded: Loaded, split: str, how: EvaluationOptions) -> LanguageModelEvaluation:
    """Every token of a split, each foreseen from at least half a context (the first ones from what there is).

    Bits per character are Σ −log₂ p over the number of characters, ends of texts foreseen but not counted, so that
    models with different tokens compare, and so do n-grams, which are fitted on the training texts alone.
    """
    texts, readings = document_corpus(loaded.config.data), EvaluationLog(loaded.folder)
    groups = {name: some for name, some in texts.split(split).items() if some.characters}
    if not groups:
        raise InputError("split_empty", split=split, path=loaded.folder)
    reading = WindowOptions.of(loaded.config)
    baseline = NGrams.fit(texts.train.texts, closed=reading.packed)
    looked_at = texts.validation if texts.validation.characters else texts.train
    order = baseline.best_order(looked_at.texts)
    judged = _Judge(loaded, reading, baseline, how)
    scores = {name: judged(some) for name, some in groups.items()}
    apart = set_apart(groups)
    main = [name for name in groups if name not in apart]
    total = scores[main[0]] if len(main) == 1 else judged(together(groups[name] for name in main))
    found = LanguageModelEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        context=reading.context,
        order=order,
        total=total,
        groups=scores,
        apart=apart,
        readings=readings.count(split) + 1,
    )
    about = found.to_json()
    readings.write(split, found.checkpoint, {key: about[key] for key in (*total.to_json(), "n_gram", "context")})
    return found


@dataclass(frozen=True)
class _Judge:
    """Texts → their scores."""

    loaded: Loaded
    reading: WindowOptions
    baseline: NGrams
    how: EvaluationOptions

    def __call__(self, texts: Documents) -> WritingScores:
        model, context = self.loaded.model, self.reading.context
        rows, given = self._rows(texts.texts)
        found = foresee(model, rows, context, progress=self.how.progress)
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

    def _rows(self, texts: Sequence[str]) -> tuple[list[Tokens], int]:
        """As the model reads them, and how many characters are given: nothing stands before the first of a stream."""
        tokenizer = self.loaded.tokenizer
        coded = tokenizer.encode_batch(texts)
        if not self.reading.packed:
            return [joined(coded, tokenizer.specials)], tokenizer.spans(texts[0][:100])[0][1]
        return [np.array(self.loaded.frame.around(tokens), dtype=np.int32) for tokens in coded], 0
