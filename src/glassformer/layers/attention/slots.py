"""How many slots keys and values at fixed places take: decoding reserves by these sizes, the ledger counts by them."""

from __future__ import annotations

SLOTS = 32  # steps to begin with; doubled when they are full
ROWS = 16  # sentences are rounded up to a multiple of this, so that few graphs serve all batches


def enough_slots(length: int, beams: int = 1) -> int:
    """Slots for `length` tokens and at least one step more, which takes a slot for each beam."""
    slots = SLOTS * beams
    while slots < length + beams:
        slots *= 2
    return slots


def enough_sentences(n: int) -> int:
    return -(-n // ROWS) * ROWS


def enough_memory(s: int) -> int:
    """Positions of the encoder's output, rounded up like sentences: a mask hides those that are none."""
    return -(-s // ROWS) * ROWS
