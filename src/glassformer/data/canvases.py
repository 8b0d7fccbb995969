"""Digits on a canvas, with their classes and places: from scikit-learn's 1,797 handwritten digits, no download.

Training, validation and test use different digits; canvas i of a split is always the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from glassformer.config import values
from glassformer.config.options import complete
from glassformer.config.recipe import DataConfig
from glassformer.config.table import ConfigTable, checked
from glassformer.config.values import one_of
from glassformer.data.examples import Arrays
from glassformer.data.pictures import load_handwritten
from glassformer.errors import ConfigError, choose

KIND = "canvases"
SPLITS = {"train": 0.7, "validation": 0.15, "test": 0.15}  # shares of the digits
CLASSES, SIDE, DARKEST = 10, 8, 16  # of scikit-learn's digits: classes, pixels of a side, the largest value
GAP = 1  # free pixels between two digits
SPLIT_SEED = 2020  # the split of the digits does not depend on the recipe
TRIES = 50  # places tried for a digit before the canvas counts as full
NONE = -1  # the label of missing digits, if a canvas has fewer than `most`


@dataclass(frozen=True, kw_only=True)
class CanvasPlan(ConfigTable):
    """How canvases are made: `source = { kind = "canvases", size = 32, most = 4, count = 20000 }`.

    1 … `most` digits lie on size × size pixels without overlap, each enlarged 1 … `largest` times; their upper left
    corners are at multiples of `raster` pixels.
    """

    size: int = 32
    most: int = 4
    largest: int = 1
    raster: int = 1
    count: int = 20_000  # canvases to train on
    test: int = 500
    validation: int = checked(500, values.size_or_zero)
    seed: int = checked(0, values.size_or_zero)

    @classmethod
    def of(cls, config: DataConfig) -> CanvasPlan:
        one_of("data.source", config.source.kind, (KIND,))
        options = complete("data.source", config.source, PLANNED)
        plan = cls(**options, validation=config.validation, seed=config.seed)
        # There must be room for one more digit beside any other: else most canvases would stay empty.
        if plan.size < 2 * SIDE * plan.largest:
            raise ConfigError("canvas_small", size=plan.size, largest=plan.largest, least=2 * SIDE * plan.largest)
        return plan

    def examples(self, split: str, positions: int = 1) -> Arrays:
        """A split: image (size × size, 0 … 16), labels (most, -1: none), boxes (most × 4: cx, cy, w, h in 0 … 1)."""
        counts = {"train": self.count, "validation": self.validation, "test": self.test}
        count, number, digits = choose("split", split, counts), list(SPLITS).index(split), read_digits(split)
        images = np.zeros((count, self.size, self.size), dtype=np.uint8)
        labels = np.full((count, self.most), NONE, dtype=np.int64)
        boxes = np.zeros((count, self.most, 4), dtype=np.float32)
        for i in range(count):
            random = np.random.default_rng([self.seed, number, i])
            for k, digit in enumerate(random.integers(len(digits), size=random.integers(1, self.most + 1))):
                box = self._place(random, images[i], boxes[i, :k], digits.images[digit])
                if box is None:
                    break
                labels[i, k], boxes[i, k] = digits.labels[digit], box
        return Arrays({"image": images, "labels": labels, "boxes": boxes / self.size}, positions)

    def _place(
        self,
        random: np.random.Generator,
        canvas: NDArray[np.uint8],
        taken: NDArray[np.float32],
        digit: NDArray[np.uint8],
    ) -> tuple[float, ...] | None:
        """Draw a digit where there is room for it; return its box in pixels, or None if there is no room."""
        scale = int(random.integers(1, self.largest + 1))
        drawn = digit.repeat(scale, axis=0).repeat(scale, axis=1)  # h w
        h, w = drawn.shape
        places = (self.size - w) // self.raster + 1, (self.size - h) // self.raster + 1
        for x, y in (self.raster * random.integers(0, places, size=(TRIES, 2))).tolist():
            apart = np.abs(taken[:, :2] - (x + w / 2, y + h / 2)) >= (taken[:, 2:] + (w, h)) / 2 + GAP  # k 2
            if apart.any(axis=1).all():
                canvas[y : y + h, x : x + w] = drawn
                return x + w / 2, y + h / 2, w, h
        return None


PLANNED = {
    name: each for name, each in CanvasPlan.schema().items() if name not in ("validation", "seed")
}  # options of a recipe


@dataclass(frozen=True)
class Digits:
    """Handwritten digits, each cut out so that ink touches all four sides, and their classes."""

    images: tuple[NDArray[np.uint8], ...]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)


@cache
def read_digits(split: str) -> Digits:
    """The digits of a split: the same share of every class, no digit in two splits."""
    images, labels = load_handwritten("data.source=canvases")  # n 8 8, n
    number, shares = list(SPLITS).index(split), np.cumsum([0.0, *SPLITS.values()])
    random, kept = np.random.default_rng(SPLIT_SEED), []
    for label in range(CLASSES):
        order = random.permutation(np.flatnonzero(labels == label))
        first, last = (shares[number : number + 2] * len(order)).round().astype(int)
        kept += order[first:last].tolist()
    return Digits(tuple(cut_out(images[i]) for i in kept), labels[kept])


def cut_out(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The part of an image that holds ink."""
    rows, columns = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
    return image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
