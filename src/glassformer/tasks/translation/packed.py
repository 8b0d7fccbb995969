"""Translation in batches without padding: all sentences of a batch in one row, for an accelerator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from glassformer.config.options import Schema
from glassformer.config.recipe import TrainConfig
from glassformer.data.batch import PackedPairBatch, Room, packed_pair_batch
from glassformer.data.examples import Example
from glassformer.layers.attention.mask import Packing
from glassformer.losses import Loss, Sum
from glassformer.tasks.token_scores import head_loss, head_scores
from glassformer.tasks.translation.task import Translation, translator


@dataclass(frozen=True, kw_only=True)
class PackedTranslation:
    """The same losses as those of `task`, whose sentences are padded; what is evaluated is padded too."""

    task: Translation
    room: Room

    name: ClassVar[str] = Translation.name
    unit: ClassVar[str] = Translation.unit
    recordable: ClassVar[bool] = Translation.recordable
    options: ClassVar[Schema] = Translation.options
    judged: ClassVar[Mapping[str, str]] = Translation.judged
    shown: ClassVar[Mapping[str, str]] = Translation.shown

    @property
    def criterion(self) -> Loss:
        return self.task.criterion

    @property
    def extra_tokens(self) -> int:
        return self.task.extra_tokens

    def collate(self, examples: Sequence[Example], random: np.random.Generator | None = None) -> PackedPairBatch:
        return packed_pair_batch(
            [source for source, _ in examples],
            [target for _, target in examples],
            padding=self.task.pad,
            source=self.task.source,
            target=self.task.target,
            room=self.room,
        )

    def loss(self, model: nn.Module, batch: PackedPairBatch) -> Sum:
        head, embedding, x = _translated(model, batch)
        return head_loss(head, embedding, x, batch.target_out, loss=self.criterion, size=self.task.chunk)

    def scores(self, model: nn.Module, batch: PackedPairBatch) -> dict[str, Sum]:
        head, embedding, x = _translated(model, batch)
        return head_scores(head, embedding, x, batch.target_out)

    def metrics(self, sums: Mapping[str, Sum]) -> dict[str, float]:
        return self.task.metrics(sums)

    def with_loss(self, loss: Loss) -> PackedTranslation:
        return replace(self, task=self.task.with_loss(loss))

    def of_one_size(self, config: TrainConfig, longest: int | None) -> PackedTranslation:
        return self


def _translated(model: nn.Module, batch: PackedPairBatch) -> tuple[nn.Module, nn.Module, Tensor]:
    """The head, the embedding of the target, and the decoder's last stream for a batch, 1 t d_model."""
    whole = translator(model)
    read, written = (Packing(starts, batch.longest) for starts in (batch.source_starts, batch.target_starts))
    embedding = whole.embedding if whole.target_embedding is None else whole.target_embedding
    memory = whole.encoder(whole.embedding(batch.source), packing=read)  # 1 s d_model
    x = whole.decoder(embedding(batch.target_in), memory, packing=written, memory_packing=read)  # 1 t d_model
    return whole.head, embedding, x
