"""Multi-head attention, the orange boxes of Figure 1 and the right side of Figure 2: self, masked and cross."""

from __future__ import annotations

from collections.abc import Collection

from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.config.values import biases, size
from glassformer.errors import ConfigError, choose
from glassformer.kernels.joint_linear import joins, joint_linear
from glassformer.kernels.linear import Linear
from glassformer.layers.attention.cache import KeyValues, remembered
from glassformer.layers.attention.kernel import KERNELS
from glassformer.layers.attention.mask import Mask, as_allowed
from glassformer.layers.norm import NORMS, Norm
from glassformer.layers.position.rotary import Rotation, rotate
from glassformer.tap import edited, tap

PROJECTIONS = ("q", "k", "v", "o")
WIDEST = 192  # d_k of FlashAttention's kernels that every card has


class MultiHeadAttention(nn.Module):
    r"""Multi-head attention, §3.2.2.

        MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O
        head_i = Attention(Q W_Q_i, K W_K_i, V W_V_i)

    Each head works in its own sub-space of d_k numbers; h heads of size d_model/h cost as much as one of size d_model.
    `n_kv_heads` < `n_heads` lets several query heads share one head of keys and values (see `share_heads`).
    Differs from the paper: nothing by default; biases are chosen one by one, q and k may be normalised per head
    (Henry et al. 2020), `scale` may replace 1/√d_k (T5: 1).
    """

    def __init__(
        self,
        *,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        d_k: int | None = None,
        d_v: int | None = None,
        bias: bool | Collection[str] = PROJECTIONS,
        qk_norm: str | Norm | None = None,
        eps: float = 1e-5,
        scale: float | None = None,
        dropout: float = 0.0,
        kernel: str = "fused",
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads, n_kv_heads, d_k)
        bias = biases("bias", bias)
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads = n_kv_heads or n_heads
        self.d_k = d_k = d_k or d_model // n_heads
        self.d_v = d_v = d_k if d_v is None else size("d_v", d_v)
        self.scale = d_k**-0.5 if scale is None else scale  # 1/√d_k; the kernel multiplies q by it
        self.dropout = dropout
        self.kernel = kernel
        choose("kernel", kernel, KERNELS)
        self.w_q = Linear(d_model, n_heads * d_k, bias="q" in bias)
        self.w_k = Linear(d_model, n_kv_heads * d_k, bias="k" in bias)
        self.w_v = Linear(d_model, n_kv_heads * d_v, bias="v" in bias)
        self.w_o = Linear(n_heads * d_v, d_model, bias="o" in bias)
        norm = choose("qk_norm", qk_norm, NORMS) if isinstance(qk_norm, str) else qk_norm
        self.q_norm = norm(d_k, eps=eps, bias="norm" in bias) if norm else None
        self.k_norm = norm(d_k, eps=eps, bias="norm" in bias) if norm else None

    def forward(
        self,
        q: Float[Tensor, "b t d_model"],
        k: Float[Tensor, "b s d_model"],
        v: Float[Tensor, "b s d_model"],
        mask: Mask | Tensor | None = None,
        *,
        real: Bool[Tensor, "b s"] | None = None,
        rotation: Rotation | None = None,
        bias: Float[Tensor, "h t s"] | None = None,
        cache: KeyValues | None = None,
    ) -> Float[Tensor, "b t d_model"]:
        """Self-attention: attention(x, x, x). Cross-attention: attention(x, memory, memory, real=…).

        `mask`, True = may look: t s, b t s or b h t s. `real`, True = a token, not padding: b s.
        """
        b, t, s = q.shape[0], q.shape[1], k.shape[1]
        rules = mask if isinstance(mask, Mask) else Mask(allowed=as_allowed(mask, real, b, t, s))
        if q is k and k is v and joins(q, self.w_q, self.w_k, self.w_v, often=cache is not None):
            q, k, v = joint_linear(q, self.w_q, self.w_k, self.w_v)  # the same three products as one
            queries = self._queries(q, rotation)
            keys, values = remembered(cache, lambda: (self._keys(k, rotation), self._values(v)))
        else:
            queries = self._queries(self.w_q(q), rotation)  # b h t d_k
            keys, values = remembered(  # b g s d_k, b g s d_v
                cache, lambda: (self._keys(self.w_k(k), rotation), self._values(self.w_v(v)))
            )
        dropout = self.dropout if self.training else 0.0
        # An edit of scores or weights takes effect only where they are computed.
        kernel = "reference" if edited("scores") or edited("weights") else self.kernel
        heads = KERNELS[kernel](queries, keys, values, rules, bias=bias, scale=self.scale, dropout=dropout)
        heads = tap("heads", heads)  # b h t d_v
        return tap("output", self.w_o(heads.transpose(1, 2).flatten(2)))  # b t d_model

    @property
    def packable(self) -> bool:
        """Whether FlashAttention's kernel for several texts in a row can compute it: see `kernel.packed`.

        A norm of q and k leaves them in float32, which that kernel does not take.
        """
        fits = self.d_k == self.d_v and self.d_k % 8 == 0 and self.d_k <= WIDEST
        return fits and self.kernel == "fused" and self.q_norm is None

    def _queries(self, x: Tensor, rotation: Rotation | None) -> Tensor:
        q = x.unflatten(-1, (self.n_heads, self.d_k)).transpose(1, 2)  # b h t d_k
        q = self.q_norm(q) if self.q_norm is not None else q
        return tap("q", q if rotation is None else rotate(q, rotation))

    def _keys(self, x: Tensor, rotation: Rotation | None) -> Tensor:
        k = x.unflatten(-1, (self.n_kv_heads, self.d_k)).transpose(1, 2)  # b g s d_k
        k = self.k_norm(k) if self.k_norm is not None else k
        return tap("k", k if rotation is None else rotate(k, rotation))

    def _values(self, x: Tensor) -> Tensor:
        return tap("v", x.unflatten(-1, (self.n_kv_heads, self.d_v)).transpose(1, 2))  # b g s d_v


def check_heads(d_model: int, n_heads: int, n_kv_heads: int | None, d_k: int | None) -> None:
    """Heads share d_model evenly unless d_k is given, and query heads share key-value heads evenly."""
    sizes = {"d_model": d_model, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_k": d_k}
    for key, value in sizes.items():
        if value is not None:
            size(key, value)
    if d_k is None and d_model % n_heads:
        divisors = [h for h in range(1, min(d_model, 256) + 1) if d_model % h == 0]
        close = sorted(sorted(divisors, key=lambda h: abs(h - n_heads))[:2])
        raise ConfigError("heads_do_not_divide", n_heads=n_heads, d_model=d_model, close=", ".join(map(str, close)))
    if n_kv_heads is not None and n_heads % n_kv_heads:
        raise ConfigError("kv_heads_do_not_divide", n_kv_heads=n_kv_heads, n_heads=n_heads)
