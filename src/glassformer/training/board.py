"""TensorBoard, where it is installed: the numbers of log.jsonl as scalars under tensorboard/ in the run folder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.training import events
from glassformer.training.events import Event

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

LINES = ("loss", "learning_rate", "gradient_norm", "tokens_per_second", "waiting", "of_ceiling")


class Board:
    """One session of training. Values that an earlier one wrote after `step` are dropped, so no step appears twice."""

    def __init__(self, folder: Path, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer: SummaryWriter = SummaryWriter(str(folder), purge_step=step + 1)

    @staticmethod
    def is_installed() -> bool:
        return find_spec("tensorboard") is not None

    def see(self, event: Event) -> None:
        match event:
            case events.Logged():
                known = event.to_json()
                for name in LINES:
                    if name in known:
                        self.writer.add_scalar(f"train/{name}", known[name], event.step)
            case events.Evaluated():
                for name, value in event.metrics.items():
                    self.writer.add_scalar(f"validation/{name}", value, event.step)
                self.writer.flush()
            case events.Saved():
                self.writer.flush()

    def close(self) -> None:
        self.writer.close()
