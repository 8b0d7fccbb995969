"""Mixed precision: matrix products in bf16 or fp16 while the weights stay in float32; in bf16 the stream between the
blocks too (layers/residual.carried).

fp16 has no positive numbers below 6·10⁻⁸, so the loss is scaled up before backward and the gradient down after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def autocast(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Products in the named precision; norms, softmax and losses stay in float32."""
    if precision not in DTYPES:
        return nullcontext()
    return torch.autocast(device.type, DTYPES[precision])


@contextmanager
def matmul_precision(precision: str) -> Iterator[None]:
    """Inside, products of float32 are computed so: "highest", or "high" for TensorFloat32 where the device has it."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def products_beside(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Where products are in 16 bits, the few that stay in float32 need not be exact either: TensorFloat32 is faster."""
    return matmul_precision("high") if precision in DTYPES and device.type == "cuda" else nullcontext()


class LossScale:
    r"""The factor of the loss for fp16 (Micikevicius et al. 2018), found by trial; 1 for other types.

        not finite: scale ← scale / 2, the step is skipped        2,000 good steps in a row: scale ← scale · 2

    The rule of torch's GradScaler, kept on the device as two numbers, so that no step waits for the host.
    """

    growth = 2000

    def __init__(self, precision: str, device: torch.device) -> None:
        self.used = precision == "fp16"
        self.factor = torch.tensor(2.0**16 if self.used else 1.0, device=device)
        self.good = torch.zeros((), dtype=torch.int64, device=device)

    def update(self, bad: Tensor) -> None:
        """`bad`: whether the gradient of this step was not finite."""
        if not self.used:
            return
        good = torch.where(bad, 0, self.good + 1)
        grown = torch.where(good == self.growth, self.factor * 2.0, self.factor)
        self.factor.copy_(torch.where(bad, self.factor * 0.5, grown))
        self.good.copy_(torch.where(good == self.growth, 0, good))

    def state(self) -> dict[str, float]:
        return {"scale": float(self.factor), "good": int(self.good)}

    def load(self, state: dict[str, float]) -> None:
        self.factor.fill_(state["scale"])
        self.good.fill_(int(state["good"]))
