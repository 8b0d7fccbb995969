"""Augmentation: random changes to images, so that a model learns what does not matter. Only in training."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.float32]  # b c height width
Shares = NDArray[np.float32]  # b classes: how much of each class is in an image
SMALLEST, LARGEST = 0.02, 0.4  # area of an erased rectangle, as a share of the image
NARROWEST = 0.3  # its height divided by its width, or the inverse


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """What is done to a training batch, in this order. All randomness comes from the generator of the batch's place.

    `crop`: black pixels around the image before a piece of the old size is cut out. `flip`, `erase`: the share of
    images that are mirrored, or lose a rectangle. `mixup`: α of the Beta distribution; 0: images are not mixed.
    """

    crop: int = 0
    flip: float = 0.0
    erase: float = 0.0
    mixup: float = 0.0


def crop(images: Pixels, padding: int, random: np.random.Generator, black: NDArray[np.float32]) -> Pixels:
    """Cut a piece of the old size out of an image with a border: moved by up to `padding` pixels in either direction.

    `black`, c 1 1: the value of the border, after normalisation.
    """
    b, c, height, width = images.shape
    wide = np.broadcast_to(black, (b, c, height + 2 * padding, width + 2 * padding)).copy()
    wide[:, :, padding : padding + height, padding : padding + width] = images
    top, left = random.integers(0, 2 * padding + 1, size=(2, b))  # b, b
    rows = (top[:, None] + np.arange(height))[:, None, :, None]  # b 1 height 1
    columns = (left[:, None] + np.arange(width))[:, None, None, :]  # b 1 1 width
    return wide[np.arange(b)[:, None, None, None], np.arange(c)[None, :, None, None], rows, columns]


def flip(images: Pixels, share: float, random: np.random.Generator) -> Pixels:
    """Mirror a share of the images, left to right. Not for digits and letters."""
    chosen = random.random(len(images)) < share  # b
    return np.where(chosen[:, None, None, None], images[:, :, :, ::-1], images)


def erase(images: Pixels, share: float, random: np.random.Generator) -> Pixels:
    """Random erasing (Zhong et al. 2020): a rectangle of a share of the images becomes the mean, which is 0 here.

    Area: 2 to 40 % of the image, evenly; height by width: 0.3 to 1/0.3, evenly in its logarithm.
    So the model cannot rely on a single part of an image.
    """
    b, _, height, width = images.shape
    chosen, area, ratio, down, right = random.random((5, b))  # b each
    area = (SMALLEST + (LARGEST - SMALLEST) * area) * height * width
    ratio = np.exp((2 * ratio - 1) * -math.log(NARROWEST))
    tall = np.clip(np.rint(np.sqrt(area * ratio)), 1, height)
    wide = np.clip(np.rint(np.sqrt(area / ratio)), 1, width)
    top, left = np.floor(down * (height - tall + 1)), np.floor(right * (width - wide + 1))
    rows, columns = np.arange(height), np.arange(width)
    inside_rows = (rows >= top[:, None]) & (rows < (top + tall)[:, None]) & (chosen < share)[:, None]  # b height
    inside_columns = (columns >= left[:, None]) & (columns < (left + wide)[:, None])  # b width
    inside = inside_rows[:, None, :, None] & inside_columns[:, None, None, :]  # b 1 height width
    return np.where(inside, np.float32(0), images)


def mixup(images: Pixels, shares: Shares, alpha: float, random: np.random.Generator) -> tuple[Pixels, Shares]:
    r"""Mixup (Zhang et al. 2018): each image is mixed with another of its batch, and so are their classes.

        x = λ x_i + (1 − λ) x_j,     y = λ y_i + (1 − λ) y_j,     λ ~ Beta(α, α), one for each image

    The model learns to change its answer gradually between images, and is less sure of itself.
    """
    part = random.beta(alpha, alpha, size=len(images)).astype(np.float32)  # b
    other = random.permutation(len(images))  # b
    mixed = part[:, None, None, None] * images + (1 - part[:, None, None, None]) * images[other]
    return mixed, part[:, None] * shares + (1 - part[:, None]) * shares[other]


def augmented(how: Augmentation, images: Pixels, random: np.random.Generator, black: NDArray[np.float32]) -> Pixels:
    """Crop, flip and erase, as configured; the classes stay as they are."""
    if how.crop:
        images = crop(images, how.crop, random, black)
    if how.flip:
        images = flip(images, how.flip, random)
    if how.erase:
        images = erase(images, how.erase, random)
    return images
