"""The classes of images: learned from the training part alone, numbered in a fixed order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassformer.data.pictures import Pictures
from glassformer.errors import InputError
from glassformer.recipe import RunConfig
from glassformer.values import wrong_type


def given_labels(config: RunConfig) -> list[str] | None:
    """`task.labels` of a recipe: the names of the classes in the order of their numbers."""
    names = config.task.options.get("labels")
    if names is None:
        return None
    texts = isinstance(names, list | tuple) and all(isinstance(name, str) and name for name in names)
    if not texts or len(set(names)) != len(names):
        raise wrong_type("task.labels", names, "class_names")
    return list(names)


def learn_labels(config: RunConfig, training: Pictures) -> list[str]:
    """As the recipe names them, else all that occur: numbers in their order, words in that of the alphabet."""
    found = set(training.labels)
    if len(found) < 2:
        raise InputError("one_class", origin=training.origin, labels=", ".join(found))
    whole = all(re.fullmatch(r"-?\d+", label) for label in found)
    return given_labels(config) or (sorted(found, key=int) if whole else sorted(found))


def numbered(pictures: Pictures, names: Sequence[str]) -> NDArray[np.int64]:
    """The class of each image: by name, or, where the data has numbers and the recipe names, by number."""
    known = {str(number): number for number in range(len(names))} | {name: i for i, name in enumerate(names)}
    for label in pictures.labels:
        if label not in known:
            raise InputError("unseen_class", origin=pictures.origin, label=label, known=", ".join(names))
    return np.array([known[label] for label in pictures.labels], dtype=np.int64)
