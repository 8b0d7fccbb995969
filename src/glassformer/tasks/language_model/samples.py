"""Samples of a language model at every evaluation: how it continues the beginnings of validation texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from torch import nn

from glassformer.data.documents import Documents
from glassformer.decoding import Sampling
from glassformer.loading import Loaded
from glassformer.runs import Run
from glassformer.tasks.language_model.task import WindowOptions, Writings
from glassformer.tasks.language_model.write import Writing, write
from glassformer.tasks.samples import write_samples
from glassformer.text import Vocabularies

SHOWN, GIVEN, TOKENS = 4, 24, 60  # beginnings, characters of each, and tokens to continue with


@dataclass(frozen=True)
class Continuation:
    """The beginning of a text, its true continuation, and that of the model."""

    prompt: str
    real: str
    written: str


@dataclass(frozen=True)
class Continuations:
    """`Training.show` of a language model: the same beginnings at every evaluation, drawn with the same seed.

    Writes samples/step-00000500.json. It adds no metrics: whether a text is good is for people to judge.
    """

    run: Run
    vocabularies: Vocabularies
    beginnings: Sequence[tuple[str, str]]  # (the beginning, its continuation)

    def __call__(self, model: nn.Module, step: int) -> dict[str, float]:
        loaded = Loaded(model, self.vocabularies, self.run.config, self.run.folder, self.run.folder)
        room = min(TOKENS, WindowOptions.of(self.run.config).context // 2)
        writing = Writing(tokens=room, sampling=Sampling(temperature=0.8), seed=0)
        samples = [
            Continuation(given, real, write(loaded, given, writing).text.strip("\n")) for given, real in self.beginnings
        ]
        write_samples(self.run, step, [asdict(sample) for sample in samples])
        return {}


def sample_continuations(run: Run, material: Writings) -> Continuations | None:
    """At every evaluation, continue the beginnings of some validation texts."""
    some = beginnings(material.validation_texts, WindowOptions.of(run.config).context)
    return Continuations(run, material.vocabularies, some) if some else None


def beginnings(texts: Documents, tokens: int) -> list[tuple[str, str]]:
    """The first few texts, each cut after a word; or pieces of one long text, from a few evenly spread places.

    `tokens`: the most tokens of a beginning, with any tokenizer.
    """
    given = min(GIVEN, max(tokens // 2, 1))
    whole = [text for text in texts if len(text) > 1]
    if len(whole) >= SHOWN:
        pieces = whole[:SHOWN]
    else:
        pieces = [text[len(text) * i // SHOWN :] for text in whole[:1] for i in range(SHOWN)]
    return [_cut(piece.strip(), given) for piece in pieces if piece.strip()]


def _cut(text: str, given: int) -> tuple[str, str]:
    given = min(given, len(text) // 2)
    blank = text.rfind(" ", 1, given + 1)
    at = blank if blank > 0 else max(given, 1)
    return text[:at], text[at : at + 3 * GIVEN]
