"""Translation: a sentence in, the same in another language out; learned by teacher forcing, Figure 1 as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor, nn

from glassformer.data.batch import Batch, pair
from glassformer.data.store import Example
from glassformer.errors import ConfigError, suggest
from glassformer.layers.embedding import token_matrix
from glassformer.layers.head import LanguageModelHead
from glassformer.losses import IGNORE, Loss, Sum, chunked, cross_entropy, make_loss
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.recipe import RunConfig, options
from glassformer.values import truth


@dataclass(frozen=True, kw_only=True)
class Translation:
    """Sentence pairs. Padding in the target needs no mask: it stands behind all that could look at it.

    `source_end` closes the source with eos, as the paper's code does: a place to look at when there is no other.
    `chunk` > 0 never holds the logits of more target positions than that.
    """

    pad: int
    bos: int
    eos: int
    criterion: Loss = cross_entropy
    source_end: bool = True
    pad_to: int = 1
    chunk: int = 0

    name: ClassVar[str] = "translation"
    extra_tokens: ClassVar[int] = 1

    @classmethod
    def make(cls, config: RunConfig, *, pad: int, bos: int, eos: int) -> Translation:
        """As a recipe says: `task = "translation"`, or a table with `source_end`."""
        for option in config.task.options:
            if option != "source_end":
                hint = suggest(option, ["source_end"])
                raise ConfigError("unknown_option", key="task", option=option, kind=cls.name, hint=hint)
        train = config.train
        return cls(
            pad=pad,
            bos=bos,
            eos=eos,
            criterion=make_loss(train.loss.kind, options("loss", train.loss)),
            source_end=truth("task.source_end", config.task.options.get("source_end", True)),
            pad_to=train.pad_to,
            chunk=train.chunk,
        )

    def collate(self, examples: Sequence[Example]) -> Batch:
        return pair(
            [source for source, _ in examples],
            [target for _, target in examples],
            padding=self.pad,
            begin=self.bos,
            end=self.eos,
            source_end=self.source_end,
            pad_to=self.pad_to,
        )

    def loss(self, model: nn.Module, batch: Batch) -> Sum:
        return self._loss(model, batch, self.criterion)

    def scores(self, model: nn.Module, batch: Batch) -> dict[str, Sum]:
        """loss: nats per token, teacher-forced; accuracy: next tokens guessed right, the right past given. No BLEU."""
        model, target_in = _translator(model), _target(batch)
        logits = model(batch.source, target_in, batch.source_mask)  # b t v
        counted = batch.target_out != IGNORE
        right = (logits.argmax(-1) == batch.target_out) & counted
        return {"loss": cross_entropy(logits, batch.target_out), "accuracy": Sum(right.sum(), counted.sum())}

    def with_loss(self, loss: Loss) -> Translation:
        return replace(self, criterion=loss)

    def _loss(self, model: nn.Module, batch: Batch, criterion: Loss) -> Sum:
        model, target_in = _translator(model), _target(batch)
        if not self.chunk:
            return criterion(model(batch.source, target_in, batch.source_mask), batch.target_out)
        memory = model.encode(batch.source, batch.source_mask)  # b s d_model
        embedding = model.embedding if model.target_embedding is None else model.target_embedding
        x = model.decoder(embedding(target_in), memory, None, batch.source_mask)  # b t d_model
        tied = (
            token_matrix(embedding) if isinstance(model.head, LanguageModelHead) and model.head.weight is None else None
        )
        weights = [*model.head.parameters(), *([] if tied is None else [tied])]
        return chunked(
            lambda some: model.head(some, None, tied),
            criterion,
            x,
            batch.target_out,
            weights=weights,
            size=self.chunk,
        )


def _translator(model: nn.Module) -> EncoderDecoder:
    if not isinstance(model, EncoderDecoder):
        raise ConfigError("task_family", task="translation", family="encoder-decoder")
    return model


def _target(batch: Batch) -> Tensor:
    assert batch.target_in is not None
    return batch.target_in
