"""Several batches on a CPU: a core for each takes less time than all cores for one after another.

All cores on one batch have to wait for each other after every small product, and for the slowest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

import torch

from glassformer.tap import observed

Given = TypeVar("Given")
SearchResult = TypeVar("SearchResult")


def side_by_side(
    search: Callable[[Given], SearchResult], batches: Sequence[Given], device: torch.device
) -> list[SearchResult]:
    """What `search` finds for each batch, in their order. An observer sees one batch after another.

    So do they run under autocast, which other threads do not inherit.
    """
    cores = torch.get_num_threads()
    at_once = min(cores, len(batches))
    if device.type != "cpu" or at_once < 2 or observed() or torch.is_autocast_enabled("cpu"):
        return [search(batch) for batch in batches]
    pool = ThreadPoolExecutor(at_once, initializer=partial(torch.set_num_threads, cores // at_once))
    try:
        tasks = [pool.submit(copy_context().run, search, batch) for batch in batches]
        return [task.result() for task in tasks]
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(cores)  # some of torch's libraries have one number for all threads
