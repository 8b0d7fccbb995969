"""Masked language modelling: predict hidden words from the words around them; BERT's pretraining, an encoder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassformer.config.options import Schema, complete, keywords
from glassformer.config.recipe import RunConfig, TrainConfig
from glassformer.config.values import rate
from glassformer.data.batch import TokenBatch, pad
from glassformer.data.corpus import Corpus
from glassformer.data.cut import Cut
from glassformer.data.document_corpus import DOCUMENTS_OPTIONS, document_corpus
from glassformer.data.documents import Documents
from glassformer.data.examples import Example
from glassformer.data.masking import Masking, make_masking
from glassformer.data.sampler import of_example
from glassformer.data.store import Store
from glassformer.data.stored_texts import StoredTexts
from glassformer.data.tokenise import TextColumn, tokenised
from glassformer.errors import ConfigError
from glassformer.losses import IGNORE, Loss, Sum, cross_entropy, make_loss
from glassformer.models.encoder import EncoderOnly
from glassformer.runs import Run
from glassformer.tasks.material import TextMaterial, learn_vocabularies, seen_in, sized
from glassformer.tasks.options import check_options
from glassformer.tasks.task import means
from glassformer.tasks.token_scores import head_loss, tied_matrix, with_perplexity
from glassformer.text import Frame, Tokenizer, Vocabularies


def _share(key: str, value: object) -> float:
    return 1.0 if value == 1 and not isinstance(value, bool) else rate(key, value)


OPTIONS = keywords(make_masking, dict.fromkeys(("rate", "masked", "random"), _share), without=("tokenizer",))


@dataclass(frozen=True, kw_only=True)
class MaskedLanguageModel:
    r"""Plain texts, framed by the special tokens that the recipe names; L = − Σ_{t masked} ln p(x_t | the rest).

    `masking` draws new masks in every epoch; in validation each text keeps its own masks.
    Logits are computed only for masked tokens: a seventh of the head's work.
    """

    masking: Masking
    pad: int
    frame: Frame = Frame()
    criterion: Loss = cross_entropy
    pad_to: int = 1
    chunk: int = 0

    name: ClassVar[str] = "masked_language_model"
    unit: ClassVar[str] = "masked"
    recordable: ClassVar[bool] = False  # where the masked tokens are must be known to choose their rows
    options: ClassVar[Schema] = OPTIONS
    sources: ClassVar[Mapping[str, Schema]] = DOCUMENTS_OPTIONS
    judged: ClassVar[Mapping[str, str]] = {"loss": "less", "masked_accuracy": "more", "perplexity": "less"}
    shown: ClassVar[Mapping[str, str]] = {"masked_accuracy": "share"}

    @property
    def extra_tokens(self) -> int:
        return self.frame.extra

    # --- from a recipe ---

    @classmethod
    def sketch(cls, config: RunConfig) -> RunConfig:
        check_options(config, cls.options, ("cross_entropy", "focal"))
        _chosen(config)
        model = config.model
        if model.family != "encoder":
            raise ConfigError("task_family", task=cls.name, family="encoder")
        if model.head.kind != "language_model":
            raise ConfigError("masked_head", head=model.head.kind)
        return sized(config)

    @classmethod
    def begin(cls, config: RunConfig) -> TextMaterial:
        texts = document_corpus(config.data)
        vocabularies = learn_vocabularies(config, texts.train.texts)
        return replace(
            cls._material(sized(config, vocabularies), texts, vocabularies), seen=seen_in(config, texts.train.texts)
        )

    @classmethod
    def again(cls, run: Run) -> TextMaterial:
        return cls._material(run.config, document_corpus(run.config.data), Vocabularies.open(run.folder))

    @classmethod
    def make(cls, config: RunConfig, tokenizer: Tokenizer) -> MaskedLanguageModel:
        """From a recipe: `task = { kind = "masked_language_model", whole_word = true }`."""
        train, special = config.train, tokenizer.specials
        return cls(
            masking=make_masking(tokenizer, **_chosen(config)),
            pad=special.need("pad"),
            frame=Frame.of(config, special),
            criterion=make_loss(train.loss.kind, train.loss.options),
            pad_to=train.pad_to,
            chunk=train.chunk,
        )

    @classmethod
    def _material(cls, config: RunConfig, texts: Corpus[Documents], vocabularies: Vocabularies) -> TextMaterial:
        task, tokenizer = cls.make(config, vocabularies.source), vocabularies.source
        room = task.frame.room(config)
        validation = task.encode(texts.validation, tokenizer, room)
        return TextMaterial(
            config=config,
            task=task,
            training=task.encode(texts.train, tokenizer, room),
            validation=validation if len(validation) else None,
            vocabularies=vocabularies,
        )

    def encode(self, texts: Documents, tokenizer: Tokenizer, room: int) -> Store:
        """Texts as tokens. A text that does not fit is cut; pieces without a token to guess are left out."""
        if isinstance(texts.texts, StoredTexts):
            special = tuple(sorted(tokenizer.specials.ids().values()))
            return tokenised({"text": TextColumn(texts.texts, tokenizer)}, Cut("pieces", room, special))
        tokens = [np.array(ids, dtype=np.int32) for ids in tokenizer.encode_batch(texts.texts)]
        pieces = [ids[first : first + room] for ids in tokens for first in range(0, len(ids), room)]
        return Store.of({"text": [piece for piece in pieces if self.masking.ordinary[piece].any()]})

    # --- in training ---

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> TokenBatch:
        both = [self.masking(one[0], of_example(one) if random is None else random) for one in examples]
        tokens, real = pad([read for read, _ in both], self.pad, self.frame, pad_to=self.pad_to)
        unasked = Frame(*(None if token is None else IGNORE for token in (self.frame.begin, self.frame.end)))
        targets, _ = pad([wanted for _, wanted in both], IGNORE, unasked, pad_to=self.pad_to)
        mask = None if real.all() else torch.from_numpy(real)
        return TokenBatch(tokens, mask, targets, int((targets != IGNORE).sum()))

    def loss(self, model: nn.Module, batch: TokenBatch) -> Sum:
        reader, x, wanted = self._asked(model, batch)
        if not self.chunk:
            return self.criterion(_logits(reader, x), wanted)
        return head_loss(reader.head, reader.embedding, x, wanted, loss=self.criterion, size=self.chunk)

    def scores(self, model: nn.Module, batch: TokenBatch) -> dict[str, Sum]:
        """loss: nats per masked token; masked_accuracy: how many of them are guessed right."""
        reader, x, wanted = self._asked(model, batch)
        logits = _logits(reader, x)  # n v
        right = logits.argmax(-1) == wanted
        return {
            "loss": cross_entropy(logits, wanted),
            "masked_accuracy": Sum(right.sum(), torch.tensor(batch.count, device=logits.device)),
        }

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return with_perplexity(means(sums))

    def with_loss(self, loss: Loss) -> MaskedLanguageModel:
        return replace(self, criterion=loss)

    def of_one_size(self, config: TrainConfig, longest: int | None) -> MaskedLanguageModel:
        return self

    def _asked(self, model: nn.Module, batch: TokenBatch) -> tuple[EncoderOnly, Float[Tensor, "n d_model"], Tensor]:
        """The model, its output at the masked positions, and the tokens that belong there."""
        reader = _reader(model)
        x = reader.encoder(reader.embedding(batch.tokens), real=batch.mask)  # b t d_model
        places = (batch.targets != IGNORE).flatten().nonzero().squeeze(1)  # n
        return reader, x.flatten(0, 1)[places], batch.targets.flatten()[places]  # n d_model, n


def _chosen(config: RunConfig) -> dict[str, Any]:
    """The options of the recipe: how many tokens are masked, and how."""
    chosen = complete("task", config.task, OPTIONS)
    if chosen["rate"] == 0:
        raise ConfigError("masked_nothing")
    if chosen["masked"] + chosen["random"] > 1:
        raise ConfigError("masked_shares", masked=chosen["masked"], random=chosen["random"])
    return chosen


def _reader(model: nn.Module) -> EncoderOnly:
    if not isinstance(model, EncoderOnly):
        raise ConfigError("task_family", task=MaskedLanguageModel.name, family="encoder")
    return model


def _logits(reader: EncoderOnly, x: Float[Tensor, "n d_model"]) -> Float[Tensor, "n v"]:
    logits: Tensor = reader.head(x[None], None, tied_matrix(reader.head, reader.embedding))[0]
    return logits
