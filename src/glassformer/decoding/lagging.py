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

    def ask(self, answer: Tensor) -> bool:
        if not answer.is_cuda or not self.lag:
            return bool(answer)
        copied = torch.empty((), dtype=torch.bool, pin_memory=True)
        copied.copy_(answer, non_blocking=True)
        event = torch.cuda.Event()
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
        return bool(earlier)
