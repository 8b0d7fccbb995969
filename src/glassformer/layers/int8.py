"""The boxes of Figure 1 whose matrices can be held in 8 bits: linear layers, token embedding, and the last product.

Made from a trained box, to use it; they cannot be trained or saved. `models.quantize` puts them in its place.
"""

from __future__ import annotations

from typing import Any, Self

from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.kernels.int8_linear import int8_linear, pack_int8, packed_linear, to_int8
from glassformer.layers.embedding import TokenEmbedding
from glassformer.layers.head.language_model import LanguageModelHead


class Int8Linear(nn.Module):
    r"""A linear layer with weights in 8 bits, one factor for each output.

        y = x Wᵀ + b,  W ≈ diag(s) Q

    Q exists once: in the layout of the fast product where there is one, else as it is.
    """

    def __init__(self, weight: Float[Tensor, "n k"], bias: Tensor | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        q, s = to_int8(weight)
        self.packed = pack_int8(q)  # no buffer: torch can neither copy nor move it
        self.register_buffer("q", q if self.packed is None else None)
        self.s = nn.Parameter(s, requires_grad=False)  # n
        self.bias = None if bias is None else nn.Parameter(bias.detach().float(), requires_grad=False)
        self.q: Tensor | None

    def forward(self, x: Float[Tensor, "*rows k"]) -> Float[Tensor, "*rows n"]:
        if self.packed is not None:
            return packed_linear(x, self.packed, self.s, self.bias)
        return int8_linear(x, self._whole(), self.s, self.bias)

    @property
    def weight(self) -> Float[Tensor, "n k"]:
        """W again, for a product that joins it with others; made each time."""
        return self._whole() * self.s[:, None]

    def _whole(self) -> Tensor:
        assert self.q is not None  # where several layers are joined there is no packed form
        return self.q

    def train(self, mode: bool = True) -> Self:
        if mode:
            raise InputError("int8_training")
        return super().train(mode)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        raise InputError("int8_saved")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing in it ever changes


class Int8TokenEmbedding(TokenEmbedding):
    """A token embedding with rows in 8 bits, each with a factor of its own. A tied head makes its own copy of them."""

    def __init__(self, box: TokenEmbedding) -> None:
        nn.Module.__init__(self)
        self.scale, self.special_tokens, self.segments = box.scale, box.special_tokens, box.segments
        q, s = to_int8(box.weight)
        self.register_buffer("weight", q)
        self.s = nn.Parameter(s[:, None], requires_grad=False)  # v 1

    def rows(self, tokens: Int[Tensor, "b t"]) -> Float[Tensor, "b t d_model"]:
        return self.weight[tokens] * self.s[tokens]


class Int8LanguageModelHead(LanguageModelHead):
    """The last product with weights in 8 bits: its own, or those of the embedding if they are tied."""

    def __init__(self, head: LanguageModelHead, weight: Float[Tensor, "v d"]) -> None:
        nn.Module.__init__(self)
        self.activation, self.scale = head.activation, head.scale
        self.transform, self.norm = head.transform, head.norm
        self.register_buffer("offset", head.offset)
        self.weight = self.bias = None
        self.product = Int8Linear(weight, head.bias)

    @property
    def is_one_product(self) -> bool:
        """Never one with a matrix that others could use."""
        return False

    def last(self, x: Float[Tensor, "b t d"], embedding: Tensor | None) -> Float[Tensor, "b t v"]:
        return self.product(x)
