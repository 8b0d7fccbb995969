"""How good a masked language model is on a split: hidden tokens as in training, and whole words, one gap at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.config.recipe import DataConfig
from glassformer.data.batch import pad
from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents
from glassformer.data.store import Store, Tokens
from glassformer.decoding.step import evaluating
from glassformer.errors import InputError
from glassformer.loading import Loaded
from glassformer.metrics.interval import Proportion, wilson
from glassformer.show import Sheet, as_html, as_text
from glassformer.tasks.evaluation_log import EvaluationLog
from glassformer.tasks.evaluation_options import EvaluationOptions, set_apart
from glassformer.tasks.masked_language_model import show
from glassformer.tasks.masked_language_model.task import MaskedLanguageModel

TEXTS = 64  # in a batch, of like length
GAPS = 20_000  # words of a group that are hidden in turn; of a larger one, texts taken evenly


@dataclass(frozen=True)
class Counted:
    """What is added up over texts: hidden tokens and their loss, whole words and how many of them were found."""

    tokens: int = 0
    tokens_right: int = 0
    nats: float = 0.0
    words: int = 0
    words_right: int = 0

    def __add__(self, other: Counted) -> Counted:
        return Counted(*(ours + theirs for ours, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))


@dataclass(frozen=True)
class MaskedScores:
    """`masked`: tokens hidden as in training. `words`: whole words, each hidden alone, what `fill` says first.

    `determined`: those of the words that the rest of the text leaves no choice about; None where nobody can tell.
    """

    texts: int
    masked: Proportion
    loss: float  # nats per masked token
    words: Proportion
    determined: Proportion | None

    def to_json(self) -> dict[str, Any]:
        """The values by name, then the intervals under `details`."""
        shares = {"masked": self.masked, "words": self.words, "determined": self.determined}
        return {
            **{name: None if share is None else share.value for name, share in shares.items()},
            "loss": self.loss,
            "texts": self.texts,
            "details": {name: None if share is None else asdict(share) for name, share in shares.items()},
        }


@dataclass(frozen=True, kw_only=True)
class MaskedEvaluation:
    """The scores of a split, of each of its groups and of all together but for `apart`; see `Evaluation`.

    `hypotheses`: every text as the model says it, each word from all the others.
    """

    folder: Path
    checkpoint: str
    split: str
    total: MaskedScores
    groups: Mapping[str, MaskedScores]
    apart: tuple[str, ...]
    readings: int
    hypotheses: Mapping[str, list[str]] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.total.to_json(),
            "run": str(self.folder),
            "checkpoint": self.checkpoint,
            "split": self.split,
            "readings": self.readings,
            "groups": {name: scores.to_json() for name, scores in self.groups.items()},
            "apart": list(self.apart),
        }

    def __rich__(self) -> Sheet:
        return show.tables(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(show.tables(self))


def evaluate_masked(loaded: Loaded, split: str, how: EvaluationOptions) -> MaskedEvaluation:
    """Hide and find, in every text of a split; groups as in `evaluate_translation`."""
    readings, task = EvaluationLog(loaded.folder), MaskedLanguageModel.make(loaded.config, loaded.tokenizer)
    groups = document_corpus(loaded.config.data).split(split)
    coded = {name: _encoded(loaded, task, some) for name, some in groups.items()}
    stores = {name: store for name, store in coded.items() if len(store)}
    if not stores:
        raise InputError("split_empty", split=split, path=loaded.folder)
    counts, said = _counted(loaded, task, stores, how)
    apart = set_apart(stores)
    main = [name for name in stores if name not in apart]
    sure = determined(loaded.config.data)
    texts = sum(len(stores[name]) for name in main)
    total = _scores(texts, sum((counts[name] for name in main), Counted()), sure)
    readings.write(split, loaded.checkpoint.name, total.to_json())
    return MaskedEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=total,
        groups={name: _scores(len(stores[name]), one, sure) for name, one in counts.items()},
        apart=apart,
        readings=readings.count(split),
        hypotheses=said,
    )


def determined(data: DataConfig) -> bool:
    r"""Whether the rest of a text leaves one word for a gap.

    So it is where a sentence of the built-in corpus stands beside its translation (`sides = "joined"`): the grammar is
    a function in both directions, en = f(ko) and ko = g(en), so that one sentence as a whole fixes every word of the
    other, be the combination one of those held out. A sentence alone is mostly open ("Minsu ate ___"), and of texts
    from elsewhere nobody knows: there is no such number then.
    """
    return data.source.kind == "grammar" and data.source.options.get("sides") == "joined"


def _scores(texts: int, one: Counted, sure: bool) -> MaskedScores:
    words = wilson(one.words_right, one.words)
    masked = wilson(one.tokens_right, one.tokens)
    return MaskedScores(texts, masked, one.nats / one.tokens, words, words if sure else None)


def _encoded(loaded: Loaded, task: MaskedLanguageModel, texts: Documents) -> Store:
    """As in training; no more texts than give about `GAPS` words."""
    store = task.encode(texts, loaded.tokenizer, task.frame.room(loaded.config))
    words = sum(len(np.unique(task.masking.words(store[i][0]))) for i in range(len(store)))
    return store.select(range(0, len(store), -(-words // GAPS))) if words > GAPS else store


@torch.no_grad()
def _counted(
    loaded: Loaded, task: MaskedLanguageModel, stores: Mapping[str, Store], how: EvaluationOptions
) -> tuple[dict[str, Counted], dict[str, list[str]]]:
    every, done = sum(map(len, stores.values())), 0
    counts: dict[str, Counted] = {}
    said: dict[str, list[str]] = {}
    with evaluating(loaded.model):
        for name, store in stores.items():
            counts[name], lines = Counted(), dict[int, str]()
            order = np.argsort(store.lengths[:, 0], kind="stable")
            for first in range(0, len(order), TEXTS):
                rows = order[first : first + TEXTS].tolist()
                counts[name] += _as_trained(loaded, task, store, rows)
                for i in rows:
                    guessed = _each_word(loaded, task, store[i][0])
                    words = task.masking.words(store[i][0])
                    right = _all_right(guessed == store[i][0], words)
                    counts[name] += Counted(words=len(right), words_right=int(right.sum()))
                    lines[i] = " ".join(loaded.tokenizer.decode(guessed.tolist()).splitlines())
                done += len(rows)
                how.progress(done, every)
            said[name] = [lines[i] for i in range(len(store))]
    return counts, said


def _as_trained(loaded: Loaded, task: MaskedLanguageModel, store: Store, rows: list[int]) -> Counted:
    """Each text with its own masks, the same as in every validation."""
    batch = task.collate([store[i] for i in rows]).to(loaded.device)
    found = task.scores(loaded.model, batch)
    return Counted(batch.count, int(found["masked_accuracy"].total), float(found["loss"].total))


def _each_word(loaded: Loaded, task: MaskedLanguageModel, tokens: Tokens) -> Tokens:
    """Every word from all the others: a copy of the text for each, with that word hidden; special tokens are no words.

    Of a word of several pieces all are hidden, and how many there are is seen.
    """
    words, ordinary = task.masking.words(tokens), torch.from_numpy(task.masking.ordinary)
    hidden = words == np.arange(words[-1] + 1)[:, None]  # words t
    copies = np.where(hidden, task.masking.mask, tokens).astype(np.int32)
    guessed, front = tokens.copy(), len(task.frame.front)
    for first in range(0, len(copies), TEXTS):
        some = copies[first : first + TEXTS]
        rows, _ = pad(list(some), task.pad, task.frame)
        logits = loaded.model(rows.to(loaded.device)).cpu()[:, front : front + len(tokens)]  # words t v
        best = logits[..., : len(ordinary)].masked_fill(~ordinary, -torch.inf).argmax(-1).numpy()  # words t
        row, place = np.nonzero(hidden[first : first + TEXTS])
        guessed[place] = best[row, place]
    return guessed


def _all_right(right: NDArray[np.bool_], words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each word, whether all of its pieces are right."""
    return np.bincount(words, weights=~right) == 0
