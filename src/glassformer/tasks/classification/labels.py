"""The labels of a classifier: learned from the training part alone, numbered in a fixed order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from glassformer.config.options import Option
from glassformer.config.recipe import RunConfig
from glassformer.config.values import positive, wrong_type
from glassformer.errors import ConfigError, InputError


class HasLabels(Protocol):
    """Texts or images, each with its label as in the data."""

    @property
    def labels(self) -> Sequence[str]: ...


def label_names(key: str, value: object) -> list[str]:
    """The names of the classes in the order of their numbers."""
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) and name for name in value):
        raise wrong_type(key, value, "labels")
    if len(set(value)) != len(value):
        raise wrong_type(key, value, "labels")
    return list(value)


def weights_or_balanced(key: str, value: object) -> str | list[float]:
    """ "balanced", or a factor for each class."""
    if value == "balanced":
        return "balanced"
    if not isinstance(value, list | tuple):
        raise wrong_type(key, value, "weights")
    return [positive(key, factor) for factor in value]


LABELS_OPTION = Option(None, label_names, optional=True)
WEIGHTS = Option(None, weights_or_balanced, optional=True)


def given_labels(config: RunConfig) -> list[str] | None:
    """`task.labels` of a recipe; None if the labels come from the data."""
    names: list[str] | None = LABELS_OPTION.check("task.labels", config.task.options.get("labels"))
    return names


def learn_labels(config: RunConfig, training: HasLabels) -> list[str]:
    """The labels that the recipe names, else all that occur: numbers in numerical order, words alphabetically."""
    found = set(training.labels)
    if len(found) < 2:
        raise InputError("one_label", labels=", ".join(found))
    return given_labels(config) or (sorted(found, key=int) if _whole(found) else sorted(found))


def _whole(labels: Iterable[str]) -> bool:
    return all(re.fullmatch(r"-?\d+", label) for label in labels)


def known_labels(some: HasLabels, names: Sequence[str]) -> dict[str, int]:
    """Label → class: by name; by number only if the data has only numbers and the names are words.

    So a number that training has not seen is never mistaken for the index of a class.
    """
    by_number = _whole(some.labels) and not any(_whole([name]) for name in names)
    return {str(i) if by_number else name: i for i, name in enumerate(names)}


def numbered(texts: HasLabels, names: Sequence[str], split: str) -> list[int]:
    """The class of each text."""
    known = known_labels(texts, names)
    for i, label in enumerate(texts.labels):
        if label not in known:
            raise InputError("unseen_label", label=label, split=split, number=i + 1, known=", ".join(names))
    return [known[label] for label in texts.labels]


def class_weights(config: RunConfig, classes: Sequence[int], count: int) -> list[float] | None:
    r"""`task.weights`: "balanced", or a factor for each class; 1 on average over the training set.

        balanced:  w_k = n / (K · n_k)

    A rare class then counts as much as a frequent one, and the size of the steps stays the same.
    """
    given = WEIGHTS.check("task.weights", config.task.options.get("weights"))
    if given is None:
        return None
    sizes = np.bincount(classes, minlength=count)
    if given == "balanced":
        return [len(classes) / (count * max(int(size), 1)) for size in sizes]
    factors = np.array(given)
    if len(factors) != count:
        raise ConfigError("weights_differ", given=len(factors), count=count)
    scaled: list[float] = (factors * len(classes) / float((factors * sizes).sum())).tolist()
    return scaled
