"""Lifts the float32 islands of `transformers`: parts that it computes in float32 whatever the model's type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

PRODUCTS = (Tensor.matmul, Tensor.__matmul__, torch.matmul)


class _Lift(TorchFunctionMode):
    """A request for float32 gets float64. Integers cast to float32 stay float32: they are exact, and T5 chooses its
    buckets by their logarithm in float32.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.float:
            return args[0].double() if args[0].is_floating_point() else func(*args)
        if func in PRODUCTS:  # transformers 5.17 multiplies angles by positions cast to float32
            args = tuple(x.double() if isinstance(x, Tensor) and x.dtype is torch.float32 else x for x in args)
        wide = tuple(torch.float64 if value is torch.float32 else value for value in args)
        named = {key: torch.float64 if value is torch.float32 else value for key, value in (kwargs or {}).items()}
        return func(*wide, **named)


@contextmanager
def lifted() -> Iterator[None]:
    """Inside, `transformers` computes its float32 islands in float64: RMSNorm, tables of angles, softmax, sinusoids.

    Otherwise they would cause the largest difference in float64.
    """
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _Lift(), patch.object(torch, "FloatTensor", torch.DoubleTensor):
            yield
    finally:
        torch.set_default_dtype(usual)
