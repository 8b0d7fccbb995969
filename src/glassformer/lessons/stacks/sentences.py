"""The sentences of this chapter's lessons, as one batch or followed one by one through a translator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from glassformer.config.recipe import RunConfig
from glassformer.data import grammar
from glassformer.data.batch import PairBatch
from glassformer.data.pairs import Pairs
from glassformer.loading import Loaded
from glassformer.tasks.translation.task import Translation, encode
from glassformer.text import Vocabularies
from glassformer.trace.record import record
from glassformer.trace.trace import Trace

SENTENCE = "나는 어제 학교에서 Transformer를 공부했다"
HELD_OUT_SENTENCE = (
    "우리 할머니께서는 학교에서 지훈에게 역사를 가르치고 계신다"  # a validation sentence, never trained on
)


@dataclass(frozen=True)
class Followed:
    """One sentence pair through a translator: its readable tokens and the recorded tensors."""

    source: list[str]
    target: list[str]
    trace: Trace


def validation_sentences(count: int) -> list[grammar.GrammarPair]:
    """The first validation sentences of the built-in corpus: no translator of the package was trained on them."""
    return grammar.pairs("validation", count, level="small")


def batch_of(config: RunConfig, vocabularies: Vocabularies, pairs: Sequence[grammar.GrammarPair]) -> PairBatch:
    """Pairs of Korean and English sentences, as a batch as in training."""
    both = Pairs([pair.source_ko for pair in pairs], [pair.target_en for pair in pairs])
    store = encode(both, vocabularies)
    return Translation.make(config, vocabularies).collate([store[i] for i in range(len(store))])


def teacher_forced(loaded: Loaded, source: str, target: str, names: Sequence[str] = ("*.weights",)) -> Followed:
    """Teacher-forced: the decoder is given the target and predicts the next token at every position."""
    reader = loaded.reader()
    read, said = reader.source(source), reader.target(target)
    with torch.no_grad(), record(loaded.model, names) as trace:
        loaded.model(read.ids, said.ids)
    return Followed([*map(without_space_mark, read.tokens)], [*map(without_space_mark, said.tokens)], trace)


def without_space_mark(piece: str) -> str:
    """A piece without the marker of a preceding space."""
    return piece.replace("▁", "") or "_"
