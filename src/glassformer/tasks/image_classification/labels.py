"""The classes of images: learned from the training part alone, numbered in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassformer.config.recipe import RunConfig
from glassformer.data.pictures import Pictures
from glassformer.errors import InputError
from glassformer.tasks.classification import labels


def learn_labels(config: RunConfig, training: Pictures) -> list[str]:
    """The labels that the recipe names, else all that occur; see `labels.learn_labels`."""
    found = set(training.labels)
    if len(found) < 2:
        raise InputError("one_class", origin=training.origin, labels=", ".join(found))
    return labels.learn_labels(config, training)


def numbered(pictures: Pictures, names: Sequence[str]) -> NDArray[np.int64]:
    """The class of each image; see `labels.known_labels`."""
    known = labels.known_labels(pictures, names)
    for label in pictures.labels:
        if label not in known:
            raise InputError("unseen_class", origin=pictures.origin, label=label, known=", ".join(names))
    return np.array([known[label] for label in pictures.labels], dtype=np.int64)
