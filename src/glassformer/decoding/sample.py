"""Sampling: the next token is drawn by its probability, after filters that cut off what is unlikely."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor, nn

from glassformer.config.values import positive, rate, size, wrong_type
from glassformer.decoding.filters import heat, keep_min_p, keep_top_k, keep_top_p
from glassformer.decoding.hypothesis import Hypothesis
from glassformer.decoding.limits import prepare
from glassformer.decoding.step import evaluating
from glassformer.decoding.walk import collect, walk
from glassformer.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How to draw: temperature → top-k → top-p → min-p, see `filters`; None leaves a filter out."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None

    def __post_init__(self) -> None:
        positive("temperature", self.temperature)
        if self.top_k is not None:
            size("top_k", self.top_k)
        if self.top_p is not None:
            share("top_p", self.top_p)
        if self.min_p is not None:
            rate("min_p", self.min_p)

    def filtered(self, logits: Tensor) -> Tensor:
        logits = heat(logits, self.temperature)  # b v
        logits = logits if self.top_k is None else keep_top_k(logits, self.top_k)
        logits = logits if self.top_p is None else keep_top_p(logits, self.top_p)
        return logits if self.min_p is None else keep_min_p(logits, self.min_p)


class Draw:
    """Draws tokens with numbers that each sentence has of its own: who else is still in the batch changes nothing."""

    def __init__(self, sampling: Sampling, sentences: int, seed: int | None) -> None:
        generator = None if seed is None else torch.Generator().manual_seed(size("seed", seed, 0, 2**63 - 1))
        self.sampling, self.generator, self.sentences = sampling, generator, sentences

    def __call__(self, logits: Tensor, sentences: Tensor, before: int) -> Tensor:
        """Inverse transform: the first token at which the summed probabilities exceed a uniform number."""
        numbers = torch.rand(self.sentences, generator=self.generator, dtype=torch.float64)  # all sentences, on the CPU
        uniform = numbers.to(logits).index_select(0, sentences)[:, None]  # b 1
        summed = self.sampling.filtered(logits).softmax(1).cumsum(1)  # b v
        total = summed[:, -1:]
        below = torch.minimum(uniform * total, torch.nextafter(total, torch.zeros_like(total)))
        return torch.searchsorted(summed, below, right=True)[:, 0]  # b


@torch.inference_mode()
def sample(
    model: nn.Module,
    source: Shaped[Tensor, "b s ..."],
    mask: Bool[Tensor, "b s"] | None = None,
    *,
    eos: int | Collection[int] | None,
    bos: int | None = None,
    max_len: int | None = None,
    forbidden: Collection[int] = (),
    min_len: int = 0,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    seed: int | None = None,
    n: int = 1,
) -> list[list[Hypothesis]]:
    r"""Ancestral sampling.

        y_i ~ p(v | y_<i, x), after temperature → top-k → top-p → min-p, in this order

    n hypotheses for each sentence, in the order they were drawn. `seed` makes them the same each time; None draws
    from PyTorch's own generator. `log_probability` is the model's own, before any filter. The rest is as in `greedy`.
    """
    way, limits = prepare(model, source, bos=bos, eos=eos, forbidden=forbidden, max_len=max_len, min_len=min_len)
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    draw = Draw(sampling, source.shape[0] * size("n", n), seed)
    if source.shape[0] == 0:
        return []
    with evaluating(model):
        start = way.start(source, mask).repeated(n)
        drawn = collect(walk(way, start, limits, draw), draw.sentences, limits)
    return [drawn[i : i + n] for i in range(0, len(drawn), n)]


def share(key: str, value: object) -> float:
    """A probability above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(key, value, "rate")
    if not 0.0 < value <= 1.0:  # NaN fails this too
        raise ConfigError("generate_share", key=key, value=value)
    return float(value)
