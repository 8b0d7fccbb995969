"""Two models on the same inputs: walk the taps in the order of the pass and name the first where they differ.

If both are given as folders, only one is in memory at a time: A is recorded and freed, then B is compared as it runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

from glassformer.comparison.difference import parting
from glassformer.comparison.foreign import ROUNDING, is_theirs, theirs, theirs_in
from glassformer.comparison.inputs import common, input_batch
from glassformer.comparison.ours import ModelSide, ours
from glassformer.comparison.report import Comparison
from glassformer.comparison.walk import Closed, Opened, Walk
from glassformer.config.values import wrong_type
from glassformer.errors import InputError, Phrase, shown

EXACT = 0.0  # two models of ours compute the same numbers in the same order


def compare(
    a: ModelSide,
    b: ModelSide,
    inputs: str | Sequence[str] | Tensor | None = None,
    *,
    tolerance: float | None = None,
    transformers: bool = False,
) -> Comparison:
    """Two models, tap by tap. `inputs`: texts, a tensor, or None for the built-in batch; `tolerance` is relative.

    B may be a live model of `transformers`; with `transformers`, B is a folder that this library opens.
    """
    if not isinstance(tolerance, float | int | None):
        raise InputError("compare_tolerance", value=shown(tolerance))
    if not isinstance(inputs, str | Sequence | Tensor | None):
        raise wrong_type("inputs", inputs, "word")
    texts = [inputs] if isinstance(inputs, str) else inputs
    one = ours(a)
    other: Closed
    if is_theirs(b):
        other = theirs(b)
    elif transformers:
        if not isinstance(b, str | Path):
            raise InputError("compare_not_a_folder", given=shown(b))
        other = theirs_in(b)
    else:
        other = ours(b)
    by_default = ROUNDING if other.matched else EXACT
    return compare_sides(one, other, texts, by_default if tolerance is None else tolerance)


def compare_sides(a: Closed, b: Closed, inputs: Sequence[str] | Tensor | None, tolerance: float) -> Comparison:
    """Record A, free it, and compare B with it tap by tap as it runs."""
    if math.isnan(tolerance) or tolerance < 0.0:
        raise InputError("compare_tolerance", value=tolerance)
    fits = common(a.reads, b.reads)
    opened = a.open(None)
    batch = input_batch(inputs, fits, a.name, opened.loaded)
    walk = Walk(batch)
    opened.walk(batch, {}, walk.keep)
    tokenized, dtype = _ids(opened, inputs), opened.dtype
    del opened
    other = b.open(dtype)
    other.walk(batch, walk.shapes, walk.meet)
    if b.matched and not walk.others:
        raise InputError("compare_nothing_matched", a=a.name, b=b.name)
    theirs = {name: walk.others[name] for name in walk.shapes if name in walk.others} if b.matched else walk.others
    mine = {name: walk.shapes[name] for name in theirs} if b.matched else walk.shapes
    return Comparison(
        a=a.name,
        b=b.name,
        tolerance=tolerance,
        matched=b.matched,
        inputs=tuple(batch.source.shape),
        counts=(len(walk.shapes), len(walk.others)),
        taps=walk.ordered(),
        parting=parting(mine, theirs),
        answers=walk.answers,
        notes=tuple(_notes(a, b, dtype, other, tokenized, _ids(other, inputs))),
    )


def _ids(opened: Opened, inputs: Sequence[str] | Tensor | None) -> list[list[int]] | None:
    """The texts as this model's own tokenizer reads them."""
    if inputs is None or isinstance(inputs, Tensor) or opened.loaded is None or opened.loaded.tokenizers is None:
        return None
    return [opened.loaded.framed(text) for text in inputs]


def _notes(
    a: Closed, b: Closed, dtype: torch.dtype, other: Opened, one: list[list[int]] | None, two: list[list[int]] | None
) -> Iterator[Phrase]:
    if one is not None and two is not None and one != two:
        yield Phrase("compare.other_ids", (("a", a.name), ("b", b.name)))
    if dtype != other.dtype:
        types = [str(each).removeprefix("torch.") for each in (dtype, other.dtype)]
        yield Phrase("compare.other_dtype", (("a", types[0]), ("b", types[1])))
