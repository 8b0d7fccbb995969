"""What training minimises: every loss is a sum and a count, so that the division happens once per step.

`chunked` computes any of them without ever holding all logits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

IGNORE = -100  # a target that does not count: padding, tokens that are not masked


@dataclass(frozen=True)
class Sum:
    """A loss before it is divided: the total over the targets that count, and how many these are."""

    total: Tensor
    count: Tensor

    @property
    def mean(self) -> Tensor:
        return self.total / self.count


Loss = Callable[[Tensor, Tensor], Sum]  # (output of the model, targets)
Weights = Sequence[float] | None  # one for each class


def _numbers(values: Sequence[float], like: Tensor) -> Float[Tensor, " n"]:
    """Fixed numbers as a tensor. On an accelerator one by one: a copy from the host would make a step wait."""
    if like.device.type == "cpu" or torch.compiler.is_compiling():
        return like.new_tensor(values)
    return torch.stack([like.new_full((), value) for value in values])


def cross_entropy(
    logits: Float[Tensor, "*rows v"],
    targets: Int[Tensor, "*rows"] | Float[Tensor, "*rows v"],
    *,
    ignore: int = IGNORE,
    smoothing: float = 0.0,
    weights: Weights = None,
) -> Sum:
    r"""Cross-entropy with label smoothing, §5.4 (Szegedy et al. 2016).

        L = − Σ_k q_k log p_k,     q_k = (1 − ε)·[k = target] + ε / v

    ε is spread over all v tokens, including the right one and padding, as in torch (fairseq spreads ε/(v − 1) over the
    wrong ones, T2T leaves out padding). It worsens perplexity and improves BLEU: the model learns to be less sure.
    `weights`: one factor for each class, so that a rare one is not forgotten; the count stays that of the targets.
    Targets of floating point are themselves shares q_k of the classes (mixup), and every row counts.
    Differs from the paper: nothing; the paper does not say over which tokens ε is spread.
    """
    rows = logits.flatten(0, -2)  # n v
    weight = None if weights is None else _numbers(weights, rows)  # v
    if targets.is_floating_point():
        shares = targets.flatten(0, -2)  # n v
        total = F.cross_entropy(rows, shares.to(rows.dtype), weight, label_smoothing=smoothing, reduction="sum")
        return Sum(total, torch.full((), len(rows), device=rows.device))  # not `tensor`, which an accelerator waits for
    right = targets.flatten()  # n
    total = F.cross_entropy(rows, right, weight, ignore_index=ignore, label_smoothing=smoothing, reduction="sum")
    return Sum(total, (right != ignore).sum())


def focal(
    logits: Float[Tensor, "*rows v"],
    targets: Int[Tensor, "*rows"],
    *,
    ignore: int = IGNORE,
    gamma: float = 2.0,
    weights: Weights = None,
) -> Sum:
    r"""Focal loss (Lin et al. 2017).

        L = − α (1 − p)^γ log p,     p: the probability of the target, α: the weight of its class, 1 by default

    What the model already knows (p near 1) hardly counts; γ = 0 is cross-entropy.
    Differs from the paper: the paper has none.
    """
    rows, right = logits.flatten(0, -2), targets.flatten()  # n v, n
    surprise = F.cross_entropy(rows, right, ignore_index=ignore, reduction="none")  # n: −log p; 0 where ignored
    counted = right != ignore
    weighted = surprise if weights is None else surprise * _numbers(weights, rows)[right.where(counted, 0)]  # n
    if gamma == 0.0:
        return Sum(weighted.sum(), counted.sum())
    doubt = -torch.expm1(-surprise)  # 1 − p, exact where p is close to 1
    if gamma < 1.0:  # the slope of doubt^γ at 0 is infinite, and 0 · ∞ is NaN
        doubt = doubt.clamp(min=torch.finfo(doubt.dtype).tiny)
    return Sum((doubt**gamma * weighted).sum(), counted.sum())


def binary_cross_entropy(
    logits: Float[Tensor, "*rows 1"],
    targets: Int[Tensor, "*rows"],
    *,
    ignore: int = IGNORE,
    smoothing: float = 0.0,
    weights: Weights = None,
) -> Sum:
    r"""Cross-entropy of two classes with one logit.

        L = − q log σ(z) − (1 − q) log σ(−z),     q = (1 − ε)·target + ε / 2

    The same as two logits whose difference is z, with half the weights. `weights`: those of class 0 and class 1.
    Differs from the paper: the paper has none.
    """
    z, right = logits.flatten(), targets.flatten()  # n, n
    counted = right != ignore
    wanted = right.where(counted, 0)  # n
    aim = wanted.to(z.dtype) * (1 - smoothing) + smoothing / 2
    weight = counted.to(z.dtype) if weights is None else _numbers(weights, z)[wanted] * counted
    return Sum(F.binary_cross_entropy_with_logits(z, aim, weight, reduction="sum"), counted.sum())


def mean_squared_error(
    y: Float[Tensor, "..."], targets: Float[Tensor, "..."], *, mask: Bool[Tensor, "..."] | None = None
) -> Sum:
    """Squared error, Σ (y − target)²; divided by the count it is the mean. `mask`: True = counts."""
    return _errors((y - targets).square(), mask)


def mean_absolute_error(
    y: Float[Tensor, "..."], targets: Float[Tensor, "..."], *, mask: Bool[Tensor, "..."] | None = None
) -> Sum:
    """Absolute error, Σ |y − target|; outliers weigh less than in the squared error."""
    return _errors((y - targets).abs(), mask)


def huber(
    y: Float[Tensor, "..."],
    targets: Float[Tensor, "..."],
    *,
    mask: Bool[Tensor, "..."] | None = None,
    delta: float = 1.0,
) -> Sum:
    r"""Huber's loss (1964): squared near the target, linear from δ on.

        L = ½ e²  where |e| ≤ δ,     δ (|e| − ½ δ) elsewhere

    Smooth where the error is small; an outlier pulls no harder than an error of δ.
    """
    return _errors(F.huber_loss(y, targets, reduction="none", delta=delta), mask)


def _errors(errors: Tensor, mask: Tensor | None) -> Sum:
    if mask is None:
        return Sum(errors.sum(), torch.full((), errors.numel(), device=errors.device))
    return Sum(torch.where(mask, errors, 0.0).sum(), mask.expand_as(errors).sum())


LOSSES: dict[str, Callable[..., Sum]] = {
    "cross_entropy": cross_entropy,
    "focal": focal,
    "binary_cross_entropy": binary_cross_entropy,
    "mse": mean_squared_error,
    "mae": mean_absolute_error,
    "huber": huber,
}


@dataclass(frozen=True)
class CompiledLoss:
    """A loss in compiled form, and the loss itself, by which a kernel of our own knows that it can take its place."""

    plain: Loss
    compiled: Loss

    def __call__(self, y: Tensor, targets: Tensor) -> Sum:
        return self.compiled(y, targets)


def make_loss(kind: str, options: Mapping[str, Any]) -> Loss:
    """A loss with the options of `train.loss`; a task may add `weights`."""
    return partial(LOSSES[kind], **options)


class _Chunks(torch.autograd.Function):
    """Loss and gradients chunk by chunk, all in the forward pass; backward only scales them."""

    @staticmethod
    def forward(
        ctx: Any,
        project: Callable[[Tensor], Tensor],
        loss: Loss,
        size: int,
        x: Tensor,
        targets: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor]:
        total = torch.zeros((), dtype=torch.float32 if x.dtype.itemsize < 4 else x.dtype, device=x.device)
        count = torch.zeros((), dtype=torch.long, device=x.device)
        wanted = [i for i, weight in enumerate(weights) if weight.requires_grad]
        along_x = torch.empty_like(x)
        along = [torch.zeros_like(weights[i]) for i in wanted]
        for start in range(0, x.shape[0], size):
            rows = slice(start, start + size)
            with torch.enable_grad():
                part = x[rows].detach().requires_grad_()  # n d
                one = loss(project(part), targets[rows])
                slopes = torch.autograd.grad(one.total, [part, *(weights[i] for i in wanted)])
            along_x[rows] = slopes[0]
            for whole, slope in zip(along, slopes[1:], strict=True):
                whole += slope
            total, count = total + one.total.detach(), count + one.count
        ctx.save_for_backward(along_x, *along)
        ctx.wanted, ctx.weights = wanted, len(weights)
        ctx.mark_non_differentiable(count)
        return total, count

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        along_x, *along = ctx.saved_tensors
        weights: list[Tensor | None] = [None] * ctx.weights
        for i, slope in zip(ctx.wanted, along, strict=True):
            weights[i] = slope * slopes[0]
        return None, None, None, along_x * slopes[0], None, *weights


def chunked(
    project: Callable[[Tensor], Tensor],
    loss: Loss,
    x: Float[Tensor, "*rows d"],
    targets: Int[Tensor, "*rows"],
    *,
    weights: Sequence[Tensor],
    size: int,
) -> Sum:
    """`loss(project(x), targets)` with the logits of `size` positions at a time: the same sum, the same gradients.

    A vocabulary is wide: at 25,000 tokens and 37,000 words the logits and their gradient are by far the largest
    tensors of a step. `weights`: every parameter that `project` uses, so that it gets its gradient.
    """
    rows, right = x.flatten(0, -2), targets.flatten()  # n d, n
    if torch.is_grad_enabled() and (rows.requires_grad or any(weight.requires_grad for weight in weights)):
        return Sum(*_Chunks.apply(project, loss, size, rows, right, *weights))
    parts = [loss(project(some), wanted) for some, wanted in zip(rows.split(size), right.split(size), strict=True)]
    return Sum(torch.stack([part.total for part in parts]).sum(), torch.stack([part.count for part in parts]).sum())
