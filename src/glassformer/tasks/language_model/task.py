"""Language modelling: predict the next token; learned from plain text, by the right half of Figure 1 alone."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.config.options import Schema
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.table import ConfigTable, checked
from glassformer.config.values import one_of
from glassformer.data.corpus import Corpus
from glassformer.data.cut import Cut
from glassformer.data.document_corpus import DOCUMENTS_OPTIONS, document_corpus
from glassformer.data.documents import Documents
from glassformer.data.examples import Example, Examples
from glassformer.data.packing import pack, packed
from glassformer.data.store import TokenIds
from glassformer.data.stored_texts import StoredTexts
from glassformer.data.stream import Stream, filled, windows
from glassformer.data.tokenise import TextColumn, tokenised
from glassformer.errors import ConfigError
from glassformer.layers.position import WITH_TABLE
from glassformer.losses import Loss, Sum, cross_entropy, make_loss
from glassformer.models.decoder import DecoderOnly
from glassformer.runs import Run
from glassformer.tasks.material import TextMaterial, learn_vocabularies, seen_in, sized
from glassformer.tasks.options import check_options
from glassformer.tasks.task import means
from glassformer.tasks.token_scores import head_loss, head_scores, with_perplexity
from glassformer.text import Frame, Specials, Tokenizer, Vocabularies

CONTEXT = 256
WAYS = ("stream", "packed")
OFFSETS = ("random", "consecutive")


@dataclass(frozen=True, kw_only=True)
class Writings(TextMaterial):
    """The material of a language model; `validation_texts`: the texts themselves, for samples."""

    validation_texts: Documents


@dataclass(frozen=True, kw_only=True)
class WindowOptions(ConfigTable):
    """How texts are read. "stream" joins them all, with eos between them, and reads windows of `context` tokens.

    The windows begin at "random" `offsets`, as nanoGPT's do, or at "consecutive" ones, so that an epoch reads all once.
    "packed" reads each text from bos to eos, several in a row of `context` tokens, none of which sees another.
    """

    context: int = CONTEXT
    documents: str = checked(WAYS[0], partial(one_of, known=WAYS))
    offsets: str = checked(OFFSETS[0], partial(one_of, known=OFFSETS))

    @classmethod
    def of(cls, config: RunConfig) -> WindowOptions:
        return cls.from_choice("task", config.task)

    @property
    def packed(self) -> bool:
        return self.documents == "packed"

    def framed(self, config: RunConfig) -> RunConfig:
        """The recipe with the frame of these windows, so that a prompt begins as in training; refuses another frame."""
        frame = {"begin": "bos", "end": "eos"} if self.packed else {"begin": "none", "end": "none"}
        for key, role in frame.items():
            given = getattr(config.text, key)
            if given not in ("none", role):
                raise ConfigError("language_model_frame", key=key, value=given, documents=self.documents, role=role)
        return replace(config, text=replace(config.text, **frame))  # type: ignore[arg-type]

    def read(self, texts: Documents, tokenizer: Tokenizer, frame: Frame) -> Examples:
        """The examples of texts; those in the cache become one mapped row."""
        specials = tokenizer.specials
        if not isinstance(texts.texts, StoredTexts):
            return self.examples(tokenizer.encode_batch(texts.texts), frame, specials)
        end = () if self.packed or len(texts) == 1 else (specials.need("eos"),)
        (coded,) = tokenised({"text": TextColumn(texts.texts, tokenizer)}, Cut("ended", tokens=end)).fields.values()
        if self.packed:
            return pack([coded[i].tolist() for i in range(len(coded))], frame, self.context)
        return Stream.of(coded.tokens[: len(coded.tokens) - len(end)], self.context)  # eos only between texts

    def examples(self, texts: Sequence[Sequence[int]], frame: Frame, specials: Specials) -> Examples:
        if self.packed:
            return pack(texts, frame, self.context)
        return Stream.of(joined(texts, specials), self.context)


class ReadBatch(Protocol):
    """A batch of either way of reading."""

    @property
    def tokens(self) -> Tensor: ...
    @property
    def targets(self) -> Tensor: ...
    @property
    def documents(self) -> Tensor | None: ...
    @property
    def count(self) -> int: ...
    def to(self, device: torch.device) -> ReadBatch: ...


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    r"""The next token, from all before it: L = − Σ_t ln p(x_{t+1} | x_1 … x_t).

    `characters`: characters per token in the validation text on average, counting the ends of texts as tokens.
    """

    reading: WindowOptions
    pad: int = 0
    characters: float = 1.0
    criterion: Loss = cross_entropy
    pad_to: int = 1
    chunk: int = 0
    rows: int = 0  # windows of every batch; 0: as many as there are

    name: ClassVar[str] = "language_model"
    unit: ClassVar[str] = "tokens"
    recordable: ClassVar[bool] = True
    options: ClassVar[Schema] = WindowOptions.schema()
    sources: ClassVar[Mapping[str, Schema]] = DOCUMENTS_OPTIONS
    judged: ClassVar[Mapping[str, str]] = {
        "loss": "less",
        "accuracy": "more",
        "perplexity": "less",
        "bits_per_character": "less",
    }
    shown: ClassVar[Mapping[str, str]] = {"bits_per_character": "free"}
    extra_tokens: ClassVar[int] = 0

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy", "focal"))
        if config.model.family != "decoder":
            raise ConfigError("task_family", task=cls.name, family="decoder")
        how, model = WindowOptions.of(config), config.model
        if model.position.kind in WITH_TABLE and how.context > model.max_len:
            raise ConfigError("context_too_long", context=how.context, max_len=model.max_len)
        return sized(how.framed(config))

    @classmethod
    def begin(cls, config: RunConfig) -> Writings:
        texts = document_corpus(config.data)
        tokenizer = learn_vocabularies(config, texts.train.texts)
        return replace(
            cls._material(sized(WindowOptions.of(config).framed(config), tokenizer), texts, tokenizer),
            seen=seen_in(config, texts.train.texts),
        )

    @classmethod
    def again(cls, run: Run) -> Writings:
        return cls._material(run.config, document_corpus(run.config.data), Vocabularies.open(run.folder))

    @classmethod
    def make(cls, config: RunConfig, tokenizer: Tokenizer, characters: float = 1.0) -> LanguageModel:
        """From a recipe: `task = { kind = "language_model", context = 256, documents = "stream" }`."""
        train = config.train
        return cls(
            reading=WindowOptions.of(config),
            pad=tokenizer.specials.pad or 0,
            characters=characters,
            criterion=make_loss(train.loss.kind, train.loss.options),
            pad_to=train.pad_to,
            chunk=train.chunk,
        )

    @classmethod
    def _material(cls, config: RunConfig, texts: Corpus[Documents], vocabularies: Vocabularies) -> Writings:
        task, validation = cls.make(config, vocabularies.source), texts.validation
        coded = vocabularies.source.encode_batch(validation.texts)
        tokens = sum(map(len, coded))
        if tokens:
            ends = len(validation) - (not task.reading.packed)  # predicted like any token, but not characters
            task = replace(task, characters=validation.characters / (tokens + ends))
        specials = vocabularies.source.specials
        frame = Frame.of(config, specials)
        return Writings(
            config=config,
            task=task,
            training=task.reading.read(texts.train, vocabularies.source, frame),
            validation=task.reading.examples(coded, frame, specials) if tokens else None,
            vocabularies=vocabularies,
            validation_texts=validation,
        )

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> ReadBatch:
        if self.reading.packed:
            return packed(examples, self.pad, self.pad_to)
        found = windows(examples, self.reading.context, None if self.reading.offsets == "consecutive" else random)
        return filled(found, self.rows) if self.rows else found

    def loss(self, model: nn.Module, batch: ReadBatch) -> Sum:
        writer, x = _written(model, batch)
        return head_loss(writer.head, writer.embedding, x, batch.targets, loss=self.criterion, size=self.chunk)

    def scores(self, model: nn.Module, batch: ReadBatch) -> dict[str, Sum]:
        """loss: nats per token, in windows as in training; accuracy: share of next tokens guessed right."""
        writer, x = _written(model, batch)
        return head_scores(writer.head, writer.embedding, x, batch.targets)

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        found = means(sums)
        return {**with_perplexity(found), "bits_per_character": found["loss"] / math.log(2) / self.characters}

    def with_loss(self, loss: Loss) -> LanguageModel:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> LanguageModel:
        """The last windows of an epoch, too few for a batch, are joined by empty ones."""
        if self.reading.packed:
            return self
        return replace(self, rows=min(config.batch_tokens // self.reading.context, config.max_sentences or sys.maxsize))


def joined(texts: Sequence[Sequence[int]], specials: Specials) -> TokenIds:
    """All texts in one row, with eos between them; a single text stays as it is."""
    between = [specials.need("eos")] if len(texts) > 1 else []
    parts = [np.asarray(part, dtype=np.int32) for part in chain.from_iterable((between, text) for text in texts)]
    return np.concatenate(parts[1:]) if parts else np.zeros(0, dtype=np.int32)


def _written(model: nn.Module, batch: ReadBatch) -> tuple[DecoderOnly, Tensor]:
    """The model, and its last stream for a batch, b t d_model."""
    writer = _writer(model)
    return writer, writer.decoder(writer.embedding(batch.tokens), documents=batch.documents)


def _writer(model: nn.Module) -> DecoderOnly:
    if not isinstance(model, DecoderOnly):
        raise ConfigError("task_family", task=LanguageModel.name, family="decoder")
    return model
