"""The non-linearities of the feed-forward network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,  # max(0, x): the paper
    "gelu": F.gelu,  # x Φ(x), exact (Hendrycks & Gimpel 2016): BERT, ViT
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # its tanh approximation: GPT-2, T5 v1.1
    "silu": F.silu,  # x σ(x), also called swish: LLaMA, Marian
    "sigmoid": torch.sigmoid,  # σ(x): the gate of the first GLU (Dauphin et al. 2017)
}
