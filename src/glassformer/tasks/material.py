"""The material of tasks that read text: the vocabulary goes into the run folder, the rest is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers

from glassformer.config.recipe import RunConfig
from glassformer.data.examples import Examples
from glassformer.data.prepared import prepared
from glassformer.data.sample import DIFFERENT, sample_lines
from glassformer.data.stored_texts import StoredTexts
from glassformer.data.watching import tell, told
from glassformer.loading import load
from glassformer.runs import Run
from glassformer.tasks.task import Task
from glassformer.text import Vocabularies
from glassformer.text.kinds import check_unsized
from glassformer.text.seen import MOST, SeenText

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


def seen_in(config: RunConfig, texts: Sequence[str]) -> SeenText | None:
    """The words of the training texts; None if the model starts from one trained on unknown texts."""
    if config.train.start is not None:
        return None
    if not isinstance(texts, StoredTexts):
        return SeenText.of(texts)

    def make(draft: Path) -> None:
        SeenText.of(told(texts, "words", len(texts))).save(draft)

    return SeenText.open(prepared("seen", {"texts": texts.mark, "most": MOST}, make))


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


def learn_vocabularies(config: RunConfig, sources: Sequence[str], targets: Sequence[str] = ()) -> Vocabularies:
    """Vocabularies learned from the training texts as [text] says; with `train.start`, those of that model.

    Those of texts in the cache are kept there too: every seed of a sweep learns the same.
    """
    if config.train.start is not None:
        return load(config.train.start, device="cpu").vocabularies
    marks = [texts.mark for texts in (sources, targets) if isinstance(texts, StoredTexts)]
    if not marks:
        return _learned(config, sources, targets)
    libraries = [tokenizers.__version__, sentencepiece.__version__]
    learned = {"texts": marks, "text": config.text.to_dict(), "seed": config.data.seed, "different": DIFFERENT}

    def make(draft: Path) -> None:
        tell("vocabulary", 0)
        _learned(config, sources, targets).save(draft)

    return Vocabularies.open(prepared("vocabulary", {**learned, "libraries": libraries}, make))


def _learned(config: RunConfig, sources: Sequence[str], targets: Sequence[str]) -> Vocabularies:
    """Learned from at most `text.sample` lines, of both sides together or of each."""
    text, seed = config.text, config.data.seed
    kind, more = text.tokenizer.kind, text.tokenizer.options
    joint = text.joint or not targets
    sides = [[sources, targets]] if joint and targets else [[sources], [targets]] if targets else [[sources]]
    first, *others = (sample_lines(some, text.sample, seed) for some in sides)
    return Vocabularies.train(
        kind, first, others[0] if others else (), text.vocab_size or None, joint=joint, options=more
    )
