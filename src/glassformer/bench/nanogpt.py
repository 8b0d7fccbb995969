"""nanoGPT's published model and step, rebuilt from its description: the peer that a decoder is trained against."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True, kw_only=True)
class GPTShape:
    """The sizes of a model, as nanoGPT's configurations name them."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0
    bias: bool = False


GPT2_124M = GPTShape(vocab_size=50304, block_size=1024, n_layer=12, n_head=12, n_embd=768)
CHARACTER_MODEL = GPTShape(vocab_size=65, block_size=256, n_layer=6, n_head=6, n_embd=384, dropout=0.2)


class Attention(nn.Module):
    """One product for q, k and v; torch's fused kernel; dropout on the weights and on the output."""

    def __init__(self, shape: GPTShape) -> None:
        super().__init__()
        d = shape.n_embd
        self.heads, self.rate = shape.n_head, shape.dropout
        self.c_attn = nn.Linear(d, 3 * d, bias=shape.bias)
        self.c_proj = nn.Linear(d, d, bias=shape.bias)
        self.drop = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, d // self.heads).transpose(1, 2) for y in self.c_attn(x).split(d, 2))
        rate = self.rate if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        return self.drop(self.c_proj(y.transpose(1, 2).contiguous().view(b, t, d)))


class Layer(nn.Module):
    """Pre-norm, with GELU."""

    def __init__(self, shape: GPTShape) -> None:
        super().__init__()
        d = shape.n_embd
        self.ln_1, self.ln_2 = nn.LayerNorm(d, bias=shape.bias), nn.LayerNorm(d, bias=shape.bias)
        self.attn = Attention(shape)
        self.c_fc, self.c_proj = nn.Linear(d, 4 * d, bias=shape.bias), nn.Linear(4 * d, d, bias=shape.bias)
        self.drop = nn.Dropout(shape.dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.drop(self.c_proj(F.gelu(self.c_fc(self.ln_2(x)))))


class NanoGPT(nn.Module):
    """Tokens and targets in, the mean loss out."""

    def __init__(self, shape: GPTShape) -> None:
        super().__init__()
        d = shape.n_embd
        self.wte, self.wpe = nn.Embedding(shape.vocab_size, d), nn.Embedding(shape.block_size, d)
        self.drop = nn.Dropout(shape.dropout)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.n_layer))
        self.ln_f = nn.LayerNorm(d, bias=shape.bias)
        self.lm_head = nn.Linear(d, shape.vocab_size, bias=False)
        self.wte.weight = self.lm_head.weight
        for name, p in self.named_parameters():
            if p.dim() > 1:
                deep = 1.0 / math.sqrt(2 * shape.n_layer) if name.endswith("c_proj.weight") else 1.0
                nn.init.normal_(p, std=0.02 * deep)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.drop(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device)))
        for layer in self.layers:
            x = layer(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1), ignore_index=-1)

    def optimizer(self, *, rate: float = 6e-4, beta2: float = 0.95) -> torch.optim.Optimizer:
        """AdamW, fused; matrices decay, the rest does not."""
        every = list(self.parameters())
        groups = [
            {"params": [p for p in every if p.dim() >= 2], "weight_decay": 0.1},
            {"params": [p for p in every if p.dim() < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=rate, betas=(0.9, beta2), fused=True)
