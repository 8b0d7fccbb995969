"""The material of tasks that read text: the vocabulary goes into the run folder, the rest is read again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from glassformer.data.examples import Examples
from glassformer.open import load
from glassformer.recipe import RunConfig
from glassformer.runs import Run
from glassformer.tasks.task import Task
from glassformer.text import Vocabularies


@dataclass(frozen=True, kw_only=True)
class TextMaterial:
    """See `Material`."""

    config: RunConfig
    task: Task[Any]
    training: Examples
    validation: Examples | None
    vocabularies: Vocabularies

    def fill(self, run: Run) -> None:
        self.vocabularies.save(run.folder)


def longest(config: RunConfig, extra_tokens: int) -> int:
    """How many tokens of a text have room: as the recipe says, or what the table of positions holds beside a frame."""
    return min(config.data.max_length, config.model.max_len - extra_tokens)


def learn_vocabularies(config: RunConfig, sources: Iterable[str], targets: Iterable[str] | None = None) -> Vocabularies:
    """Learned from the training texts as [text] says; with `train.start` those of the model that it starts from."""
    text = config.text
    if config.train.start is not None:
        return load(config.train.start, device="cpu").vocabularies
    kind, more = text.tokenizer.kind, text.tokenizer.options
    joint = text.joint or targets is None
    return Vocabularies.train(kind, sources, targets or (), text.vocab_size or None, joint=joint, options=more)
