"""Greedy decoding: always the most probable next token."""

from __future__ import annotations

from collections.abc import Collection

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor, nn

from glassformer.decoding.hypothesis import Hypothesis
from glassformer.decoding.limits import prepare
from glassformer.decoding.step import evaluating
from glassformer.decoding.top import largest
from glassformer.decoding.walk import collect, walk


@torch.inference_mode()
def greedy(
    model: nn.Module,
    source: Shaped[Tensor, "b s ..."],
    mask: Bool[Tensor, "b s"] | None = None,
    *,
    eos: int | Collection[int] | None,
    bos: int | None = None,
    max_len: int | None = None,
    forbidden: Collection[int] = (),
    first: int | None = None,
    last: int | None = None,
    min_len: int = 0,
) -> list[list[Hypothesis]]:
    r"""Greedy decoding.

        y_i = argmax_v p(v | y_<i, x)

    `source` is the text of the encoder, or the prompt of a decoder alone; `mask`: True = a real token. `bos` starts
    the target of an encoder-decoder, `eos` (one token, several, or None for never) ends it, `forbidden` ones (padding,
    the beginning) are never produced. At most `max_len` new tokens; by default the source's length + 50, as in §6.1.
    Nothing ends before `min_len` new tokens are there.
    `first` is forced as the first new token, `last` where the longest length is reached; both count as certain.
    One list a sentence, with one hypothesis: as the other decoders.
    """
    way, limits = prepare(
        model,
        source,
        bos=bos,
        eos=eos,
        forbidden=forbidden,
        max_len=max_len,
        first=first,
        last=last,
        min_len=min_len,
    )
    if source.shape[0] == 0:
        return []
    with evaluating(model):
        steps = walk(way, way.start(source, mask), limits, most_probable)
        return [[one] for one in collect(steps, source.shape[0], limits)]


def most_probable(logits: Tensor, sentences: Tensor, before: int) -> Tensor:
    return largest(logits, 1)[1][:, 0]  # b
