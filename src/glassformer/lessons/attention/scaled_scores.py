"""Why scores are divided by √d_k, §3.2.1: what happens to dot products, softmax and gradient as d_k grows.

Claim scale-variance; the rule stands in `verdicts`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from torch import Tensor

from glassformer.layers.attention.kernel import attention_weights
from glassformer.layers.attention.mask import Mask
from glassformer.lessons.attention.scaled_scores_picture import draw
from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, Verdict
from glassformer.lessons.statistics import interval

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
KEYS = 64  # so many keys a query chooses between
QUERIES = 256


def run(desk: Desk) -> Data:
    """Queries and keys of independent numbers of variance 1, as at the beginning of a training, for every width."""
    rows = [
        {"d_k": d_k, **{kind: _look(desk, d_k, scale) for kind, scale in (("plain", 1.0), ("scaled", 1 / sqrt(d_k)))}}
        for d_k in desk.each("d_k", WIDTHS)
    ]
    return {"keys": KEYS, "rows": rows, "first": rows[0], "last": rows[-1]}


def _look(desk: Desk, d_k: int, scale: float) -> dict[str, Any]:
    seen = [_once(seed, d_k, scale) for seed in desk.seeds]
    return {name: interval([one[name] for one in seen]) for name in seen[0]}


def _once(seed: int, d_k: int, scale: float) -> dict[str, float]:
    random = torch.Generator().manual_seed(seed)
    q = torch.randn(1, 1, QUERIES, d_k, generator=random, dtype=torch.float64)  # b h t d_k
    k = torch.randn(1, 1, KEYS, d_k, generator=random, dtype=torch.float64)  # b h s d_k
    scores = q * scale @ k.transpose(-2, -1)  # b h t s
    weights = attention_weights(q, k, Mask(), bias=None, scale=scale)  # b h t s
    return {
        "variance": float(scores.var()),
        "entropy": float(_entropy(weights).mean()),
        "largest": float(weights.amax(-1).mean()),
        "gradient": _slope(weights),
    }


def _entropy(weights: Tensor) -> Tensor:
    """H = − Σ_s w_s log₂ w_s: log₂ of how many keys a query really looks at."""
    return -torch.xlogy(weights, weights).sum(-1) / torch.log(torch.tensor(2.0))  # b h t


def _slope(weights: Tensor) -> float:
    """The norm of softmax's Jacobian, diag(w) − w wᵀ, over all queries: what is left of a gradient that comes back."""
    jacobian = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)  # b h t s s
    return float(torch.linalg.matrix_norm(jacobian).mean())


def verdicts(data: Data) -> dict[str, Verdict]:
    """Confirmed if the plain variance is d_k within 10 % at every width, and the scaled one 1 within 10 %.

    Refuted if at no width either is so; else it depends.
    """
    plain = [abs(row["plain"]["variance"]["mean"] / row["d_k"] - 1) < 0.1 for row in data["rows"]]
    scaled = [abs(row["scaled"]["variance"]["mean"] - 1) < 0.1 for row in data["rows"]]
    every, some = all(plain + scaled), any(plain + scaled)
    last = data["rows"][-1]
    measured = {
        "d_k": last["d_k"],
        "plain": last["plain"]["variance"]["mean"],
        "scaled": last["scaled"]["variance"]["mean"],
        "gradient_plain": last["plain"]["gradient"]["mean"],
        "gradient_scaled": last["scaled"]["gradient"]["mean"],
    }
    return {"scale-variance": Verdict("confirmed" if every else "depends" if some else "refuted", measured)}


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("scale-variance",),
    equation=r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V",
    formula="Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V",
    paper="§3.2.1, Eq. (1)",
    sources=("layers/attention/kernel.py",),
)
