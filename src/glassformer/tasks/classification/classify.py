"""Classify: which of the classes a text belongs to, and how sure the model is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from glassformer.decoding.rules import check_finite
from glassformer.decoding.step import evaluating
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.show import Table
from glassformer.tasks.text_inputs import Text, every_text_or_pair, input_batches, input_ids
from glassformer.tasks.verbs import Answers, answers_table, check_verb


@dataclass(frozen=True)
class Classified:
    """A text or an image, its class, and the probabilities of all classes, the most probable first."""

    input: str
    label: str
    probability: float
    probabilities: dict[str, float]

    columns: ClassVar[tuple[str, ...]] = ("input", "label", "probability")

    def lines(self) -> list[list[str]]:
        return [[self.input, self.label, f"{self.probability:.4f}"]]

    def top(self, count: int) -> list[tuple[str, float]]:
        """The `count` most probable classes."""
        return list(self.probabilities.items())[:count]

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        return vars(self) | {"probabilities": dict(self.top(top or len(self.probabilities)))}

    def __rich__(self) -> Table:
        return answers_table([self])

    def _repr_html_(self) -> str:
        return answers_table([self]).to_html()


@torch.inference_mode()
def classify(loaded: Loaded, texts: Text | Sequence[Text], *, truncate: bool = False) -> Answers[Classified]:
    """The class of each text, in the given order; a pair of texts, ("a", "b"), has one class."""
    check_verb(loaded, "classify")
    every = every_text_or_pair(texts)
    found: dict[int, Classified] = {}
    if not all(part.strip() for text in every for part in ([text] if isinstance(text, str) else text)):
        raise InputError("empty_text")
    ids = [input_ids(loaded, text, truncate=truncate) for text in every]
    names = [text if isinstance(text, str) else " ||| ".join(text) for text in every]
    with evaluating(loaded.model):
        for some in input_batches(loaded, [one.tokens for one in ids], [one.segments for one in ids]):
            more = () if some.segments is None else (some.segments,)
            logits = loaded.model(some.tokens, some.mask, *more)  # b classes
            found |= zip(some.places, decided([names[i] for i in some.places], logits, loaded.labels), strict=True)
    return Answers(found[i] for i in range(len(every)))


def decided(inputs: Sequence[str], logits: Tensor, labels: Sequence[str]) -> list[Classified]:
    """Logits, b classes → classes: softmax, or for one logit the sigmoid, which is p(labels[1])."""
    logits = check_finite(logits.float())
    single = logits.shape[1] == 1
    shares = torch.cat([logits, -logits], 1).sigmoid() if single else logits.softmax(1)  # b classes
    names = class_names(labels, shares.shape[1])
    names = names[::-1] if single else names
    ranked = shares.sort(dim=1, descending=True, stable=True)  # in a tie: the second of two classes, else the first
    return [
        Classified(given, names[order[0]], row[0], {names[i]: share for i, share in zip(order, row, strict=True)})
        for given, order, row in zip(inputs, ranked.indices.tolist(), ranked.values.tolist(), strict=True)
    ]


def class_names(labels: Sequence[str], count: int) -> list[str]:
    """One name for each class: the labels, or numbers if their count does not match; equal labels are told apart by
    their number."""
    named = list(labels) if len(labels) == count else [str(i) for i in range(count)]
    return [f"{name} ({i})" if named.count(name) > 1 else name for i, name in enumerate(named)]
