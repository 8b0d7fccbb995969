"""The material of tasks that read text: the vocabulary goes into the run folder, the rest is read again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from glassformer.config.recipe import RunConfig
from glassformer.data.examples import Examples
from glassformer.loading import load
from glassformer.runs import Run
from glassformer.tasks.task import Task
from glassformer.text import Vocabularies
from glassformer.text.kinds import check_unsized
from glassformer.text.seen import SeenText

STAND_IN = 1000  # size assumed for a vocabulary whose size depends on the data


@dataclass(frozen=True, kw_only=True)
class TextMaterial:
    """See `Material`."""

    config: RunConfig
    task: Task[Any]
    training: Examples
    validation: Examples | None
    vocabularies: Vocabularies
    seen: SeenText | None = None  # the words of the training texts; None in a resumed run

    def fill(self, run: Run) -> None:
        self.vocabularies.save(run.folder)
        if self.seen is not None:
            self.seen.save(run.folder)


def seen_in(config: RunConfig, texts: Iterable[str]) -> SeenText | None:
    """The words of the training texts; None if the model starts from one trained on unknown texts."""
    return SeenText.of(texts) if config.train.start is None else None


def sized(config: RunConfig, vocabularies: Vocabularies | None = None) -> RunConfig:
    """The recipe with the sizes of its vocabularies; before these are learned, those of [text], or a stand-in.

    `vocab_size = 0` means all that occur, which works only for characters and words: others are refused here, before
    any data is read.
    """
    if vocabularies is not None:
        return config.with_vocabulary(vocabularies.source.vocab_size, vocabularies.target.vocab_size)
    if not config.text.vocab_size and config.train.start is None:
        check_unsized(config.text.tokenizer.kind)
    return config.with_vocabulary(config.text.vocab_size or STAND_IN)


def learn_vocabularies(config: RunConfig, sources: Iterable[str], targets: Iterable[str] | None = None) -> Vocabularies:
    """Vocabularies learned from the training texts as [text] says; with `train.start`, those of that model."""
    text = config.text
    if config.train.start is not None:
        return load(config.train.start, device="cpu").vocabularies
    kind, more = text.tokenizer.kind, text.tokenizer.options
    joint = text.joint or targets is None
    return Vocabularies.train(kind, sources, targets or (), text.vocab_size or None, joint=joint, options=more)
