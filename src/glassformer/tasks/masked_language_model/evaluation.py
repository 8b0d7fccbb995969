"""How good a masked language model is on a split: hidden tokens as in training, and whole words, one gap at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from glassformer.config.recipe import DataConfig
from glassformer.data.batch import pad
from glassformer.data.document_corpus import document_corpus
from glassformer.data.documents import Documents
from glassformer.data.store import Store, TokenIds
from glassformer.loading import Loaded
from glassformer.metrics.interval import Proportion, wilson
from glassformer.show import Sheet
from glassformer.tasks.masked_language_model.task import MaskedLanguageModel
from glassformer.tasks.result import Evaluation, EvaluationOptions, Groups, computed, number_columns, percent
from glassformer.words import say

TEXTS = 64  # in a batch, of similar length
GAPS = 20_000  # words of a group that are hidden in turn; from a larger group, texts are taken evenly
COLUMNS = ("group", "texts", "words", "found", "determined", "masked", "loss")
DROPPED = {"texts": 1, "masked": 2}


@dataclass(frozen=True)
class Counted:
    """Sums over texts: hidden tokens and their loss, whole words and how many of them were found."""

    tokens: int = 0
    tokens_right: int = 0
    nats: float = 0.0
    words: int = 0
    words_right: int = 0

    def __add__(self, other: Counted) -> Counted:
        return Counted(*(ours + theirs for ours, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))


@dataclass(frozen=True)
class MaskedScores:
    """`masked`: tokens hidden as in training. `words`: whole words, each hidden alone, as `fill` predicts them.

    `determined`: only words that the rest of the text determines; None if that is unknown.
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


@dataclass(frozen=True, kw_only=True, repr=False)
class MaskedEvaluation(Evaluation[MaskedScores]):
    """See `Evaluation`. `hypotheses`: every text as the model predicts it, each word from all the others."""

    def shown(self, lang: str | None = None) -> Sheet:
        columns = number_columns(COLUMNS, lambda key: say(f"gaps.{key}", lang), DROPPED)
        return Sheet(self.table(columns, _cells, lang), *self.notes(lang))

    def notes(self, lang: str | None) -> list[str]:
        """What the numbers mean, and how often the split was read."""
        sure = self.total.determined is not None
        return [say("gaps.about", lang), say("gaps.sure" if sure else "gaps.unsure", lang), *self.reading_notes(lang)]


def _cells(scores: MaskedScores) -> list[str]:
    shares = (percent(share, 2) for share in (scores.words, scores.determined, scores.masked))
    return [f"{scores.texts:,}", f"{scores.words.total:,}", *shares, f"{scores.loss:.4f}"]


def evaluate_masked(loaded: Loaded, split: str, options: EvaluationOptions) -> MaskedEvaluation:
    """Hide tokens and words in every text of a split and predict them; groups as in `evaluate_translation`."""
    task = MaskedLanguageModel.make(loaded.config, loaded.tokenizer)
    texts = document_corpus(loaded.config.data).split(split)
    stores = Groups.of(loaded, split, {name: _encoded(loaded, task, some) for name, some in texts.items()})
    counts, said = _counted(loaded, task, stores.every, options)
    sure, count = determined(loaded.config.data), sum(len(stores.every[name]) for name in stores.main)
    return MaskedEvaluation(
        folder=loaded.folder,
        checkpoint=loaded.checkpoint.name,
        split=split,
        total=_scores(count, sum((counts[name] for name in stores.main), Counted()), sure),
        groups={name: _scores(len(stores.every[name]), one, sure) for name, one in counts.items()},
        apart=stores.apart,
        hypotheses=said,
    )


def determined(data: DataConfig) -> bool:
    r"""Whether the rest of a text determines the word in a gap.

    It does if a sentence of the built-in corpus is joined with its translation (`sides = "joined"`): the grammar is a
    function in both directions, en = f(ko) and ko = g(en), so one sentence fixes every word of the other, even in
    combinations that were held out. A sentence alone mostly leaves a choice ("Minsu ate ___"), and for other texts it
    is unknown: then there is no such number.
    """
    return data.source.kind == "grammar" and data.source.options.get("sides") == "joined"


def _scores(texts: int, one: Counted, sure: bool) -> MaskedScores:
    words = wilson(one.words_right, one.words)
    masked = wilson(one.tokens_right, one.tokens)
    return MaskedScores(texts, masked, one.nats / one.tokens, words, words if sure else None)


def _encoded(loaded: Loaded, task: MaskedLanguageModel, texts: Documents) -> Store:
    """Texts encoded as in training, but only as many as have about `GAPS` words."""
    store = task.encode(texts, loaded.tokenizer, task.frame.room(loaded.config))
    words = sum(len(np.unique(task.masking.words(store[i][0]))) for i in range(len(store)))
    return store.select(range(0, len(store), -(-words // GAPS))) if words > GAPS else store


@torch.no_grad()
def _counted(
    loaded: Loaded, task: MaskedLanguageModel, stores: Mapping[str, Store], options: EvaluationOptions
) -> tuple[dict[str, Counted], dict[str, list[str]]]:
    counts = dict.fromkeys(stores, Counted())
    lines: dict[str, dict[int, str]] = {name: {} for name in stores}
    orders = {name: np.argsort(store.lengths[:, 0], kind="stable").tolist() for name, store in stores.items()}

    def guess(name: str, rows: list[int]) -> tuple[list[Counted], dict[int, str]]:
        store = stores[name]
        counted, said = [_as_trained(loaded, task, store, rows)], dict[int, str]()
        for i in rows:
            guessed = _each_word(loaded, task, store[i][0])
            right = _all_right(guessed == store[i][0], task.masking.words(store[i][0]))
            counted.append(Counted(words=len(right), words_right=int(right.sum())))
            said[i] = " ".join(loaded.tokenizer.decode(guessed.tolist()).splitlines())
        return counted, said

    for name, _, (counted, said) in computed(orders, TEXTS, options, guess):
        counts[name] = sum(counted, counts[name])
        lines[name] |= said
    return counts, {name: [some[i] for i in range(len(some))] for name, some in lines.items()}


def _as_trained(loaded: Loaded, task: MaskedLanguageModel, store: Store, rows: list[int]) -> Counted:
    """Each text with its own masks, the same as in validation during training."""
    batch = task.collate([store[i] for i in rows]).to(loaded.device)
    found = task.scores(loaded.model, batch)
    return Counted(batch.count, int(found["masked_accuracy"].total), float(found["loss"].total))


def _each_word(loaded: Loaded, task: MaskedLanguageModel, tokens: TokenIds) -> TokenIds:
    """Predict every word from all the others: one copy of the text per word, with that word hidden; no special tokens.

    All pieces of a word are hidden; the model sees only how many there are.
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
    """For each word, whether all of its pieces are right."""
    return np.bincount(words, weights=~right) == 0
