"""Memory that was freed and is asked for again: on a CPU the allocator may give it back to the system in between.

    plain form    a result of some MiB is new memory each time, and the system fills every page of it with zeros
    this form     the allocator keeps what was freed, up to 64 MiB

glibc learns by itself: once a large block has been freed, blocks up to its size are kept. So one is freed, untouched.
"""

from __future__ import annotations

from functools import cache

import torch

LARGEST = (1 << 25) - (1 << 16)  # bytes, just below the 32 MiB from which glibc keeps nothing


@cache
def keep_memory() -> None:
    """Once for a process; where the allocator is another one, nothing changes."""
    torch.empty(LARGEST, dtype=torch.uint8, device="cpu")
