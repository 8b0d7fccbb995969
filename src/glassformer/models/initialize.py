"""Initialisation: every rule in one table. A rule gives each kind of matrix its standard deviation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from glassformer.layers.attention import MultiHeadAttention
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.head import LanguageModelHead
from glassformer.layers.norm import LayerNorm, RMSNorm
from glassformer.layers.patch import ImagePatches
from glassformer.layers.position import LearnedPositions, RelativePositions
from glassformer.layers.queries import LearnedQueries


@dataclass(frozen=True)
class Matrix:
    """What a rule may look at: the role of a matrix, its two sides, and the model around it."""

    role: str
    fan_in: int
    fan_out: int
    d_model: int
    d_k: int
    n_layers: int


InitRule = Callable[[Matrix], float]


def _xavier(m: Matrix) -> float:  # Glorot & Bengio 2010: the variance survives forward and backward
    return math.sqrt(2.0 / (m.fan_in + m.fan_out))


def _he(m: Matrix) -> float:  # He et al. 2015: ReLU halves the variance, so double it
    return math.sqrt(2.0 / m.fan_in)


def _embedding(m: Matrix) -> float:
    return m.d_model**-0.5


def _normal(m: Matrix) -> float:
    return 0.02


def _depth_scaled(m: Matrix) -> float:  # GPT-2: what adds to the stream is divided by √(number of additions)
    return 0.02 / math.sqrt(2 * m.n_layers)


def _t5_query(m: Matrix) -> float:  # T5 has no 1/√d_k in its scores: the initialisation includes it
    return (m.d_model * m.d_k) ** -0.5


def _fan_in(m: Matrix) -> float:
    return m.fan_in**-0.5


def _one(m: Matrix) -> float:
    return 1.0


# role:        what it is
#   embedding  tokens, segments, queries    q, k, v   projections into heads      w_o, w_2  what adds to the stream
#   position   learned positions            w_1       into the feed-forward       other     patches, heads, poolers
#   relative   T5's bias                    output    the language model's matrix
INIT_RULES: dict[str, dict[str, InitRule]] = {
    "xavier": {"default": _xavier, "embedding": _embedding, "output": _embedding, "position": _normal},
    "he": {"default": _he, "embedding": _embedding, "output": _embedding, "position": _normal},
    "normal": {"default": _normal},
    "gpt2": {"default": _normal, "w_o": _depth_scaled, "w_2": _depth_scaled},
    "t5": {"default": _fan_in, "embedding": _one, "position": _one, "q": _t5_query, "relative": _embedding},
    "paper": {"default": _xavier, "embedding": _embedding, "output": _embedding, "position": _embedding},
}
UNIFORM = ("xavier", "paper")  # these draw matrices evenly from ±√3·std; the others from a normal distribution


@torch.no_grad()
def initialize(model: nn.Module, rule: str, *, d_model: int, n_layers: int, generator: torch.Generator | None) -> None:
    """Fill every matrix by the rule, every bias with 0, every norm with γ = 1, β = 0; then the special tokens."""
    for role, weight, d_k in _matrices(model):
        fan_out, fan_in = weight.shape
        matrix = Matrix(role, fan_in, fan_out, d_model, d_k, n_layers)
        table = INIT_RULES[rule]
        std = table.get(role, table["default"])(matrix)
        if rule in UNIFORM and role not in ("embedding", "position", "output", "relative"):
            weight.uniform_(-math.sqrt(3.0) * std, math.sqrt(3.0) * std, generator=generator)
        else:
            weight.normal_(0.0, std, generator=generator)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.zero_()
    for module in model.modules():
        match module:
            case LayerNorm() | RMSNorm():
                module.weight.fill_(1.0)
            case TokenEmbedding():
                module.initialize_special()


def _matrices(model: nn.Module) -> list[tuple[str, Tensor, int]]:
    """Every matrix of the model once: its role, the matrix, and d_k if it belongs to an attention."""
    found: list[tuple[str, Tensor, int]] = []
    for path, module in model.named_modules():
        match module:
            case TokenEmbedding():
                found.append(("embedding", module.weight, 0))
                if module.segments is not None:
                    found.append(("embedding", module.segments, 0))
            case LearnedQueries():
                found.append(("embedding", module.weight, 0))
            case LearnedPositions():
                found.append(("position", module.weight, 0))
            case RelativePositions():
                found.append(("relative", module.weight, 0))
            case LanguageModelHead(weight=Tensor() as weight):
                found.append(("output", weight, 0))
            case ImagePatches(class_token=Tensor() as token):
                found.append(("position", token, 0))
            case MultiHeadAttention():
                roles = {"q": module.w_q, "k": module.w_k, "v": module.w_v}
                found += [(role, projection.weight, module.d_k) for role, projection in roles.items()]
            case nn.Linear():
                name = path.rpartition(".")[2]
                if name not in ("w_q", "w_k", "w_v"):
                    found.append((name if name in ("w_o", "w_1", "w_2") else "other", module.weight, 0))
    return found
