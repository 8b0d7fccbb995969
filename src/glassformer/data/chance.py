"""Chance in batches: drawn anew in every epoch, and the same again after a kill, under accumulation and on any rank."""

from __future__ import annotations

import zlib

import numpy as np

from glassformer.data.examples import Example
from glassformer.data.sampler import EpochPosition

BATCH = 1  # apart from the sampler's own [seed, epoch]: numpy takes missing numbers for zeros


def of_batch(seed: int, place: EpochPosition) -> np.random.Generator:
    """What masks, crops and mixes a training batch: it depends on where the batch stands, and on nothing before it."""
    return np.random.default_rng([seed, place.epoch, place.position, BATCH])


def of_example(example: Example) -> np.random.Generator:
    """What masks an example in validation: the same in every evaluation, whatever stands beside it in its batch."""
    mark = 0
    for field in example:
        mark = zlib.crc32(np.ascontiguousarray(field).tobytes(), mark)
    return np.random.default_rng(mark)
