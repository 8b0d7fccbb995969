"""How many rows of logits there are at a time: the kernel computes by these sizes, and the ledger counts by them."""

from __future__ import annotations

LOGITS_AT_ONCE = 2**28  # numbers in one chunk of logits
MULTIPLE = 64  # a product is fastest when its sizes are multiples of this; 50,257 words are computed as 50,304


def padded(v: int) -> int:
    """The width of a row of v logits."""
    return -(-v // MULTIPLE) * MULTIPLE


def chunk_rows(n: int, width: int, logits: int = LOGITS_AT_ONCE) -> int:
    """The rows of one chunk, of n in all."""
    return min(n, max(1, logits // width))
