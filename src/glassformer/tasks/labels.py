"""The labels of a classifier: learned from the training part alone, numbered in a fixed order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from glassformer.data.texts import Texts
from glassformer.errors import ConfigError, InputError
from glassformer.recipe import RunConfig
from glassformer.values import positive, wrong_type


def given_labels(config: RunConfig) -> list[str] | None:
    """`task.labels` of a recipe: the names of the classes in the order of their numbers."""
    names = config.task.options.get("labels")
    if names is None:
        return None
    texts = isinstance(names, list | tuple) and all(isinstance(name, str) and name for name in names)
    if not texts or len(set(names)) != len(names):
        raise wrong_type("task.labels", names, "labels")
    return list(names)


def learn_labels(config: RunConfig, training: Texts) -> list[str]:
    """As the recipe names them, else all that occur: numbers in their order, words in that of the alphabet."""
    found = set(training.labels)
    if len(found) < 2:
        raise InputError("one_label", labels=", ".join(found))
    whole = all(re.fullmatch(r"-?\d+", label) for label in found)
    return given_labels(config) or (sorted(found, key=int) if whole else sorted(found))


def numbered(texts: Texts, names: Sequence[str], split: str) -> list[int]:
    """The class of each text: by name, or, where the data has numbers and the recipe names, by number."""
    known = {str(number): number for number in range(len(names))} | {name: i for i, name in enumerate(names)}
    for i, label in enumerate(texts.labels):
        if label not in known:
            raise InputError("unseen_label", label=label, split=split, number=i + 1, known=", ".join(names))
    return [known[label] for label in texts.labels]


def class_weights(config: RunConfig, classes: Sequence[int], count: int) -> list[float] | None:
    r"""`task.weights`: "balanced", or a factor for each class; 1 on average over the training set.

        balanced:  w_k = n / (K · n_k)

    So a rare class counts as much as a frequent one, and steps stay as large as they were.
    """
    given = config.task.options.get("weights")
    if given is None:
        return None
    sizes = np.bincount(classes, minlength=count)
    if given == "balanced":
        return [len(classes) / (count * max(int(size), 1)) for size in sizes]
    if not isinstance(given, list | tuple):
        raise wrong_type("task.weights", given, "weights")
    factors = np.array([positive("task.weights", factor) for factor in given])
    if len(factors) != count:
        raise ConfigError("weights_differ", given=len(factors), count=count)
    scaled: list[float] = (factors * len(classes) / float((factors * sizes).sum())).tolist()
    return scaled
