"""Tokens as they come: the same as greedy and sampling, handed over one step at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor, nn

from glassformer.decoding.greedy import most_probable
from glassformer.decoding.limits import Limits, prepare
from glassformer.decoding.sample import Draw, Sampling
from glassformer.decoding.step import Decodable, evaluating
from glassformer.decoding.walk import Choose, walk


def stream(
    model: nn.Module,
    source: Shaped[Tensor, "b s ..."],
    mask: Bool[Tensor, "b s"] | None = None,
    *,
    eos: int | Collection[int] | None,
    bos: int | None = None,
    max_len: int | None = None,
    forbidden: Collection[int] = (),
    min_len: int = 0,
    sampling: Sampling | None = None,
    seed: int | None = None,
) -> Iterator[list[int | None]]:
    """Yields one list a step: the new token of each sentence, None for those that have ended.

    Greedy, or drawn as `sampling` says: token for token what `greedy` and `sample` give. The token that ends a
    sentence is not handed over. While it runs, the model is in evaluation mode.
    """
    way, limits = prepare(model, source, bos=bos, eos=eos, forbidden=forbidden, max_len=max_len, min_len=min_len)
    pick = most_probable if sampling is None else Draw(sampling, source.shape[0], seed)
    return _tokens(model, way, limits, source, mask, pick)


@torch.inference_mode()
def _tokens(
    model: nn.Module, way: Decodable, limits: Limits, source: Tensor, mask: Tensor | None, pick: Choose
) -> Iterator[list[int | None]]:
    if source.shape[0] == 0:
        return
    with evaluating(model):
        for step in walk(way, way.start(source, mask), limits, pick):
            row: list[int | None] = [None] * source.shape[0]
            for sentence, token in zip(step.sentences.tolist(), step.tokens.tolist(), strict=True):
                row[sentence] = None if token in limits.ends else token
            if any(token is not None for token in row):
                yield row
