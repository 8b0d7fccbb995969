"""The loss of a wide head on an accelerator, a chunk of logits at a time: see kernels/linear_cross_entropy.py.

Its slopes are ready after the forward pass, so the head keeps these and no logits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import nn

from glassformer.kernels.chunk import chunk_rows, padded
from glassformer.layers.head import LanguageModelHead
from glassformer.ledger.reading import CostEntry

SUMS = 4  # bytes of a number of the matrix's slopes, which are summed in float32


@dataclass(frozen=True)
class ChunkedLoss:
    """Bytes of the chunks, by formula. `w`: of a number of the stream and the weights; `c`: of the products."""

    values: Mapping[str, int]  # b, t, d_model, vocab_size, w, c; width and rows of a chunk

    @classmethod
    def of(cls, head: nn.Module, sizes: Mapping[str, int]) -> ChunkedLoss | None:
        """For a head that is one product in at most four bytes a number; None for any other."""
        if not isinstance(head, LanguageModelHead) or not head.is_one_product or sizes["w"] > SUMS:
            return None
        width = padded(sizes["vocab_size"])
        return cls({**sizes, "width": width, "rows": chunk_rows(sizes["b"] * sizes["t"], width)})

    @property
    def kept(self) -> tuple[CostEntry, CostEntry]:
        """From the forward pass to the backward pass: the slopes along the stream and along the matrix."""
        return self._entry("slopes", "b×t×d_model×c"), self._entry("head.slopes", f"width×d_model×{SUMS}")

    @property
    def forward(self) -> CostEntry:
        """Beside them, at the last chunk: the stream, its copy in the type of the products, the matrix, the logits."""
        copy = "" if self.values["c"] == self.values["w"] else "+b×t×d_model×c"
        return self._entry("chunk", f"b×t×d_model×w{copy}+width×d_model×c+rows×width×c")

    @property
    def backward(self) -> CostEntry:
        """Beside them: both times the slope of the loss, the matrix's in float32 and in its own type."""
        copy = "" if self.values["w"] == SUMS else "+vocab_size×d_model×w"
        return self._entry("scaled", f"b×t×d_model×w+vocab_size×d_model×{SUMS}{copy}")

    @property
    def largest(self) -> CostEntry:
        return max(self.forward, self.backward, key=lambda entry: entry.amount)

    @property
    def traffic(self) -> int:
        """Bytes of logits that travel: written by a product, read twice and written by the kernel, read by two more."""
        return self._entry("logits", "6×b×t×width×c").amount

    def _entry(self, name: str, formula: str) -> CostEntry:
        return CostEntry(name, formula, dict(self.values))
