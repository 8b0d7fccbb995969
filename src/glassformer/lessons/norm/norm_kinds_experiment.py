"""One short training of a small translator with a kind of norm and a size of batch; judged in both modes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config.recipe import RunConfig
from glassformer.config.values import Choice
from glassformer.data.batch import PairBatch
from glassformer.layers.norm import NORMS, Norm
from glassformer.lessons.experiment import Experiment
from glassformer.lessons.norm.batch_norm import BatchNorm, told_of_padding
from glassformer.lessons.setup import LessonSetup
from glassformer.models.build import build
from glassformer.tasks.translation.task import Translation
from glassformer.training.validate import make_sampler

KINDS = ("layer", "rms", "batch", "batch_real")  # batch_real: padding is left out of the averages
SIZES = (2, 8, 32)


def experiment(setup: LessonSetup) -> Experiment:
    """Sentences of all lengths side by side (`pool` 1), so that padding is there."""
    return Experiment(
        "ko-en",
        {
            "data.source.count": setup.some(4000, 600),
            "data.validation": 100,
            "text.vocab_size": 1000,
            "model.d_model": 32,
            "model.d_ff": 128,
            "model.n_encoder_layers": 1,
            "model.n_decoder_layers": 1,
            "train.batch_tokens": 4096,
            "train.learning_rate": 3e-3,
            "train.schedule": "constant",
            "train.warmup": 20,
            "train.ema": 0.0,
            "train.pool": 1,
        },
    )


def train(material: Experiment, kind: str, size: int, seed: int, steps: int) -> dict[str, float]:
    """The loss on unseen sentences in evaluation mode, and how much it differs in training mode on the same ones."""
    changes: dict[str, Any] = {"train.steps": steps, "train.max_sentences": size}
    task = material.material.task
    assert isinstance(task, Translation)
    outcome = material.train(seed, changes, make=lambda config: model_with(kind, config, task.pad))
    loss = outcome.validation["loss"]
    return {"loss": loss, "gap": gap(material, outcome.model, outcome.config)}


def model_with(kind: str, config: RunConfig, pad: int) -> nn.Module:
    """The translator with this kind of norm in all its places."""
    norms: dict[str, Norm] = {**NORMS, "batch": BatchNorm}
    chosen = Choice("batch" if kind == "batch_real" else kind)
    model = build(replace(config.model, norm=chosen), seed=config.train.seed, norms=norms)

    def real(inputs: tuple[Any, ...]) -> dict[str, Tensor | None]:
        """A translator is given (source, target, mask of the source); a target begins with a token that counts."""
        counted = inputs[1] != pad  # b t
        counted[:, 0] = True
        return {"encoder": inputs[2], "decoder": counted}

    return told_of_padding(model, real) if kind == "batch_real" else model


@torch.no_grad()
def gap(material: Experiment, model: nn.Module, config: RunConfig) -> float:
    """|loss in training mode − loss in evaluation mode|, on batches of the size trained with; nothing is learned."""
    task, store = material.material.task, material.material.validation
    assert store is not None
    batches = make_sampler(store, task, config.train).batches(0)
    stored = {name: buffer.clone() for name, buffer in model.named_buffers()}
    losses: dict[bool, float] = {}
    for training in (True, False):
        model.train(training)
        sums = [task.loss(model, _batch(task, store, indexes)) for indexes in batches]
        losses[training] = float(sum(one.total for one in sums) / sum(one.count for one in sums))
        for name, buffer in model.named_buffers():  # training mode moves the stored averages
            buffer.copy_(stored[name])
    model.eval()
    return abs(losses[True] - losses[False])


def _batch(task: Any, store: Any, indexes: Any) -> PairBatch:
    batch: PairBatch = task.collate([store[i] for i in indexes])
    return batch


def padded_share(material: Experiment, size: int, seed: int) -> float:
    """How much of the source of a batch is padding, on average over a few batches."""
    config = material.config({"train.max_sentences": size}, seed)
    task, store = material.material.task, material.material.training
    batches = [_batch(task, store, some) for some in make_sampler(store, task, config.train).batches(0)[:20]]
    padded = sum(0 if batch.source_mask is None else int((~batch.source_mask).sum()) for batch in batches)
    return padded / sum(batch.source.numel() for batch in batches)
