"""How long a request may compute: a pass that goes on for too long is ended between two boxes of its model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from torch import nn

LONGEST_PASS = 120.0  # seconds that one request may hold a model


class Overtime(Exception):  # noqa: N818  (no fault: the question is too large for this machine)
    """A request has computed for too long."""


@contextmanager
def limited(model: nn.Module) -> Iterator[None]:
    """Inside, no module of the model begins once the time is over: Overtime is raised instead.

    A thread cannot be ended from outside, so the pass itself looks at the clock. A single box is never cut in two.
    """
    ends = monotonic() + LONGEST_PASS

    def look(*_: object) -> None:
        if monotonic() > ends:
            raise Overtime

    handles = [module.register_forward_pre_hook(look) for module in model.modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
