"""The output of the model: the "Linear" of Figure 1 and its relatives for classes and numbers."""

from __future__ import annotations

from typing import Any

from glassformer.layers.head.classifier import ClassifierHead, DistilledHead
from glassformer.layers.head.language_model import LanguageModelHead
from glassformer.layers.head.none import NoHead
from glassformer.layers.head.objects import ObjectsHead
from glassformer.layers.head.pooling import POOLS, pool
from glassformer.layers.head.regression import RegressionHead

HEADS: dict[str, Any] = {
    "none": NoHead,
    "language_model": LanguageModelHead,
    "classifier": ClassifierHead,
    "regression": RegressionHead,
    "distilled": DistilledHead,
    "objects": ObjectsHead,
}

__all__ = [
    "HEADS",
    "POOLS",
    "ClassifierHead",
    "DistilledHead",
    "LanguageModelHead",
    "NoHead",
    "ObjectsHead",
    "RegressionHead",
    "pool",
]
