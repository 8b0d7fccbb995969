"""How many slots keys and values at fixed places take: decoding reserves by these sizes, the ledger counts by them."""

from __future__ import annotations

SLOTS = 32  # positions to begin with; doubled when they are full
ROWS = 16  # sentences are rounded up to a multiple of this, so that few graphs serve all batches


def enough_slots(length: int, first: int = SLOTS) -> int:
    """Slots for `length` positions and at least one more."""
    slots = first
    while slots <= length:
        slots *= 2
    return slots


def enough_sentences(n: int) -> int:
    return -(-n // ROWS) * ROWS


def enough_memory(s: int) -> int:
    """Positions of the encoder's output, rounded up like sentences: a mask hides those that are none."""
    return -(-s // ROWS) * ROWS
