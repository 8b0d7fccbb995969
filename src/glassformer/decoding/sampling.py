"""Sampling: the next token is drawn by its probability, after filters that remove unlikely ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from glassformer.config.values import positive, rate, size, wrong_type
from glassformer.decoding.limits import CheckedLimits, Limits, prepare
from glassformer.decoding.step import Decodable, Hypothesis, evaluating, evaluation_mode
from glassformer.decoding.walking import Choose, DecodingStep, collect, most_probable, walk
from glassformer.errors import ConfigError
from glassformer.kernels.linear import PackedWeights, packed_weights

Logits = Float[Tensor, "b v"]
NEVER = float("-inf")


def apply_temperature(logits: Logits, temperature: float) -> Logits:
    """p(v) ∝ exp(logit_v / T). T < 1 sharpens, T > 1 flattens; towards 0 only the most probable token is left.

    The largest logit is subtracted first, which changes no probability, so nothing overflows, however small T is.
    """
    smallest = torch.finfo(logits.dtype).tiny
    return (logits - logits.amax(1, keepdim=True)) / max(temperature, smallest)


def keep_top_k(logits: Logits, k: int) -> Logits:
    """The k largest logits (Fan et al. 2018), and those equal to the last of them."""
    least = logits.topk(min(k, logits.shape[1])).values[:, -1:]  # b 1
    return logits.masked_fill(logits < least, NEVER)


def keep_top_p(logits: Logits, p: float) -> Logits:
    """The nucleus (Holtzman et al. 2020): the fewest tokens, the most probable first, whose sum is at least p.

    A token is dropped if it and all less probable ones together have at most 1 − p. The most probable one always stays.
    """
    ascending = logits.sort(1)
    gone = ascending.values.softmax(1).cumsum(1) <= 1.0 - p  # b v
    gone[:, -1] = False
    return logits.masked_fill(gone.scatter(1, ascending.indices, gone), NEVER)


def keep_min_p(logits: Logits, p: float) -> Logits:
    """Tokens with at least p times the probability of the most probable one (Nguyen et al. 2024)."""
    probabilities = logits.softmax(1)  # b v
    return logits.masked_fill(probabilities < p * probabilities.amax(1, keepdim=True), NEVER)


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How to draw: temperature → top-k → top-p → min-p, in this order; None leaves a filter out."""

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
        logits = apply_temperature(logits, self.temperature)  # b v
        logits = logits if self.top_k is None else keep_top_k(logits, self.top_k)
        logits = logits if self.top_p is None else keep_top_p(logits, self.top_p)
        return logits if self.min_p is None else keep_min_p(logits, self.min_p)


class Draw:
    """Draws tokens. Each sentence has its own random numbers, so its draws do not depend on the rest of the batch."""

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
    limits: Limits,
    sampling: Sampling = Sampling(),  # noqa: B008
    seed: int | None = None,
    n: int = 1,
) -> list[list[Hypothesis]]:
    r"""Ancestral sampling.

        y_i ~ p(v | y_<i, x), after temperature → top-k → top-p → min-p, in this order

    n hypotheses for each sentence, in the order they were drawn. The same `seed` gives the same ones; None draws
    from PyTorch's own generator. `log_probability` is the model's own, before any filter.
    """
    decodable, checked = prepare(model, source, limits)
    draw = Draw(sampling, source.shape[0] * size("n", n), seed)
    if source.shape[0] == 0:
        return []
    with evaluating(model):
        start = decodable.start(source, mask).repeated(n)
        drawn = collect(walk(decodable, start, checked, draw), draw.sentences, checked)
    return [drawn[i : i + n] for i in range(0, len(drawn), n)]


def share(key: str, value: object) -> float:
    """Returns a probability above 0; raises for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(key, value, "rate")
    if not 0.0 < value <= 1.0:  # NaN fails this too
        raise ConfigError("generate_share", key=key, value=value)
    return float(value)


def stream_tokens(
    model: nn.Module,
    source: Shaped[Tensor, "b s ..."],
    mask: Bool[Tensor, "b s"] | None = None,
    *,
    limits: Limits,
    sampling: Sampling | None = None,
    seed: int | None = None,
) -> Iterator[list[int | None]]:
    """Yields one list per step: the new token of each sentence, None for those that have ended.

    Greedy, or drawn as `sampling` says: token for token what `greedy` and `sample` give. The token that ends a
    sentence is not yielded. While it runs, the model is in evaluation mode.
    """
    decodable, checked = prepare(model, source, limits)
    pick = most_probable if sampling is None else Draw(sampling, source.shape[0], seed)
    return _tokens(model, decodable, checked, source, mask, pick)


@torch.inference_mode()
def _tokens(
    model: nn.Module, decodable: Decodable, checked: CheckedLimits, source: Tensor, mask: Tensor | None, pick: Choose
) -> Iterator[list[int | None]]:
    if source.shape[0] == 0:
        return
    with evaluation_mode(model):
        for step in _steps(decodable, checked, source, mask, pick):
            row: list[int | None] = [None] * source.shape[0]
            for sentence, token in zip(step.sentences.tolist(), step.tokens.tolist(), strict=True):
                row[sentence] = None if token in checked.ends else token
            if any(token is not None for token in row):
                yield row


def _steps(
    decodable: Decodable, checked: CheckedLimits, source: Tensor, mask: Tensor | None, pick: Choose
) -> Iterator[DecodingStep]:
    """The steps of a walk. The weights are packed only while one is computed, not while the caller has it."""
    known: PackedWeights = {}
    with packed_weights(known):
        steps = walk(decodable, decodable.start(source, mask), checked, pick)
    while True:
        with packed_weights(known):
            step = next(steps, None)
        if step is None:
            return
        yield step
