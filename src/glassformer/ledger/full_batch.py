"""The largest micro-batch that a recipe allows, as a job of the ledger."""

from __future__ import annotations

from glassformer.config.recipe import RunConfig
from glassformer.ledger.job import OPTIMIZERS, Job
from glassformer.models.check import input_positions

TYPES = {"float32": "float32", "bf16": "bfloat16", "fp16": "float16"}  # a recipe's name of a type → the ledger's


def full_batch(config: RunConfig) -> Job:
    """`batch_tokens` on either side, in the longest examples."""
    train, model = config.train, config.model
    given = config.data.max_length or model.max_len
    length = input_positions(model) or min(model.max_len, given, train.batch_tokens)
    sentences = max(1, train.batch_tokens // length)
    return Job(
        batch=min(sentences, train.max_sentences or sentences),
        length=None if input_positions(model) else length,
        accumulate=train.accumulate,
        dtype=TYPES[train.precision],
        optimizer=train.optimizer.kind if train.optimizer.kind in OPTIMIZERS else "adamw",
        parallel="ddp",
    )
