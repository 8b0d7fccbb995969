"""Translation: a sentence in, its translation out; learned by teacher forcing, with the whole of Figure 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from torch import Tensor, nn

from glassformer.config.options import Option, Schema
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.values import one_of, truth
from glassformer.data.batch import SPARE, PairBatch, Room, pair_batch
from glassformer.data.corpus import Corpus
from glassformer.data.cut import Cut
from glassformer.data.examples import Example
from glassformer.data.pair_corpus import PAIRS_OPTIONS, pair_corpus
from glassformer.data.pairs import Pairs
from glassformer.data.store import Store
from glassformer.data.stored_texts import StoredTexts
from glassformer.data.tokenise import TextColumn, tokenised
from glassformer.errors import ConfigError
from glassformer.losses import Loss, Sum, cross_entropy, make_loss
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.runs import Run
from glassformer.tasks.material import TextMaterial, learn_vocabularies, seen_in, sized
from glassformer.tasks.options import check_options
from glassformer.tasks.output_ids import FORBIDDEN_AND_ENDS
from glassformer.tasks.task import Task, means
from glassformer.tasks.token_scores import head_loss, head_scores, with_perplexity
from glassformer.text import Frame, Vocabularies
from glassformer.text.frame import roles
from glassformer.text.tokenizer import ROLES

SHORT = 4  # tokens: if the sentences of a batch are even shorter on average, its size is another one
ROLE, ROLE_OR_NONE = partial(one_of, known=ROLES), partial(one_of, known=("none", *ROLES))
OPTIONS: Schema = {  # all but the first say how an imported model decodes
    "source_end": Option(None, truth, optional=True),
    "start": Option("bos", ROLE),
    "first": Option(None, ROLE_OR_NONE, optional=True),
    "last": Option(None, ROLE_OR_NONE, optional=True),
    **FORBIDDEN_AND_ENDS,
}


@dataclass(frozen=True, kw_only=True)
class Sentences(TextMaterial):
    """The material of a translator; `validation_texts`: the sentences themselves, for samples."""

    validation_texts: Pairs


@dataclass(frozen=True, kw_only=True)
class Translation:
    """Sentence pairs. Padding in the target needs no mask: it comes after all tokens, which look only back.

    `source` and `target` are the frames of the two sides.
    `chunk` > 0 never holds the logits of more target positions than that.
    """

    pad: int
    source: Frame
    target: Frame
    criterion: Loss = cross_entropy
    pad_to: int = 1
    chunk: int = 0

    name: ClassVar[str] = "translation"
    unit: ClassVar[str] = "tokens"
    recordable: ClassVar[bool] = True
    options: ClassVar[Schema] = OPTIONS
    sources: ClassVar[Mapping[str, Schema]] = PAIRS_OPTIONS
    judged: ClassVar[Mapping[str, str]] = {
        "loss": "less",
        "accuracy": "more",
        "perplexity": "less",
        "sample_bleu": "more",
        "exact": "more",
    }
    shown: ClassVar[Mapping[str, str]] = {"sample_bleu": "percent", "exact": "share"}

    @property
    def extra_tokens(self) -> int:
        return max(frame.extra for frame in self._frames)

    @property
    def _frames(self) -> tuple[Frame, Frame]:
        """Of the source and of the target that is read; the target that is said ends in eos instead, just as long."""
        return self.source, self.target.opened

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy", "focal"))
        roles(config)
        return sized(config)

    @classmethod
    def begin(cls, config: RunConfig) -> Sentences:
        sentences = pair_corpus(config.data)
        vocabularies = learn_vocabularies(config, sentences.train.sources, sentences.train.targets)
        return replace(
            cls._material(sized(config, vocabularies), sentences, vocabularies),
            seen=seen_in(config, sentences.train.sources),
        )

    @classmethod
    def again(cls, run: Run) -> Sentences:
        return cls._material(run.config, pair_corpus(run.config.data), Vocabularies.open(run.folder))

    @classmethod
    def make(cls, config: RunConfig, vocabularies: Vocabularies) -> Translation:
        """From a recipe: `task = "translation"`, or a table with `source_end`."""
        train, special = config.train, vocabularies.target.specials
        special.need("eos")  # without an end, nothing that is said would ever be over
        return cls(
            pad=special.need("pad"),
            target=Frame.of_target(config, special),
            criterion=make_loss(train.loss.kind, train.loss.options),
            source=Frame.of(config, vocabularies.source.specials),
            pad_to=train.pad_to,
            chunk=train.chunk,
        )

    @classmethod
    def _material(cls, config: RunConfig, sentences: Corpus[Pairs], vocabularies: Vocabularies) -> Sentences:
        """Pairs that are too long, or empty on one side, are left out of training and validation."""
        task = cls.make(config, vocabularies)
        room = min(frame.room(config) for frame in task._frames)
        validation = encode(sentences.validation, vocabularies)
        fits = (validation.lengths.max(axis=1) <= room) & (validation.lengths.min(axis=1) > 0)
        return Sentences(
            config=config,
            task=task,
            training=learned_from(sentences.train, vocabularies, room),
            validation=validation.select(fits) if fits.any() else None,
            vocabularies=vocabularies,
            validation_texts=sentences.validation.chosen(np.flatnonzero(fits).tolist()),
        )

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> PairBatch:
        return pair_batch(
            [source for source, _ in examples],
            [target for _, target in examples],
            padding=self.pad,
            source=self.source,
            target=self.target,
            pad_to=self.pad_to,
        )

    def loss(self, model: nn.Module, batch: PairBatch) -> Sum:
        head, embedding, x = _translated(model, batch)
        return head_loss(head, embedding, x, batch.target_out, loss=self.criterion, size=self.chunk)

    def scores(self, model: nn.Module, batch: PairBatch) -> dict[str, Sum]:
        """loss: nats per token, teacher-forced; accuracy: next tokens guessed right, given the true past. No BLEU."""
        head, embedding, x = _translated(model, batch)
        return head_scores(head, embedding, x, batch.target_out)

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return with_perplexity(means(sums))

    def with_loss(self, loss: Loss) -> Translation:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> Task[Any]:
        """Sentences of any length one after another in a row of fixed size."""
        from glassformer.tasks.translation.packed import PackedTranslation

        if longest is None:
            return self
        tokens, longest = config.batch_tokens, longest + self.extra_tokens
        return PackedTranslation(task=self, room=Room(row_without_padding(tokens, longest), tokens // SHORT, longest))


def row_without_padding(tokens: int, longest: int) -> int:
    """The length of the row that holds a batch of at most `tokens` on either side, in texts of at most `longest`."""
    return tokens + max(SPARE, tokens // (longest - 1) + 2)  # at least one token for each text that fills a row up


def translator(model: nn.Module) -> EncoderDecoder:
    if not isinstance(model, EncoderDecoder):
        raise ConfigError("task_family", task="translation", family="encoder-decoder")
    return model


def _translated(model: nn.Module, batch: PairBatch) -> tuple[nn.Module, nn.Module, Tensor]:
    """The head, the embedding of the target, and the decoder's last stream for a batch, b t d_model."""
    assert batch.target_in is not None
    model = translator(model)
    memory = model.encode(batch.source, batch.source_mask)  # b s d_model
    embedding = model.embedding if model.target_embedding is None else model.target_embedding
    return model.head, embedding, model.decoder(embedding(batch.target_in), memory, memory_real=batch.source_mask)


def encode(pairs: Pairs, vocabularies: Vocabularies) -> Store:
    """Sentences as tokens."""
    return Store.of(
        {
            "source": vocabularies.source.encode_batch(pairs.sources),
            "target": vocabularies.target.encode_batch(pairs.targets),
        }
    )


def learned_from(pairs: Pairs, vocabularies: Vocabularies, room: int) -> Store:
    """The same without pairs that are too long, or empty on one side; mapped from the cache if there are many."""
    source, target = pairs.sources, pairs.targets
    if isinstance(source, StoredTexts) and isinstance(target, StoredTexts):
        sides = {"source": TextColumn(source, vocabularies.source), "target": TextColumn(target, vocabularies.target)}
        return tokenised(sides, Cut("leave_out", room))
    return encode(pairs, vocabularies).no_longer_than(room)
