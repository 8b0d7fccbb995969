"""A yes-or-no question to the device at every step, without making it wait for the host."""

from __future__ import annotations

from collections import deque

import torch
from torch import Tensor

LAG = 2  # steps


class LaggingAnswer:
    """On a CPU the answer is that of now; on an accelerator that of two steps ago, which is known without waiting."""

    def __init__(self, lag: int = 0) -> None:
        self.lag = lag
        self._asked: deque[tuple[Tensor, torch.cuda.Event]] = deque()
        self._read: list[tuple[Tensor, torch.cuda.Event]] = []  # for the next questions: both cost the host time

    def ask(self, answer: Tensor) -> bool:
        if not answer.is_cuda or not self.lag:
            return bool(answer)
        new = None if self._read else (torch.empty((), dtype=torch.bool, pin_memory=True), torch.cuda.Event())
        copied, event = new or self._read.pop()
        copied.copy_(answer, non_blocking=True)
        event.record()
        self._asked.append((copied, event))
        return len(self._asked) > self.lag and self._answer()

    def settle(self) -> bool:
        """Whether any answer that is still on its way is yes."""
        answers = [self._answer() for _ in range(len(self._asked))]
        return any(answers)

    def _answer(self) -> bool:
        earlier, event = self._asked.popleft()
        event.synchronize()
        self._read.append((earlier, event))
        return bool(earlier)
