"""nanoGPT's training of its character model, whole: its train.py with config/train_shakespeare_char.py, rebuilt.

A process of its own, `python -m glassformer.bench.nanogpt_run`, that is timed from its start. It writes a line of JSON
when data and model are ready, one after the first update, and one for each evaluation.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.bench.nanogpt import CHARACTER_MODEL, GPTShape, NanoGPT
from glassformer.data.read import text

SPLITS = ("train", "val")
SEED = 1337
LOG_EVERY = 10  # steps: it reads the loss so often, and waits for the device


@dataclass(frozen=True, kw_only=True)
class NanoGPTRun:
    """Its configuration; `wanted`: the validation loss that ends the run."""

    shape: GPTShape = CHARACTER_MODEL
    batch: int = 64
    steps: int = 5000
    warmup: int = 100
    rate: float = 1e-3
    floor: float = 1e-4
    evaluate_every: int = 250
    evaluated: int = 200  # batches of each split
    wanted: float = 0.0
    data: str = "tinyshakespeare"
    device: str = "cuda"
    compiled: bool = True

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, written: str) -> NanoGPTRun:
        values: dict[str, Any] = json.loads(written)
        return replace(cls(shape=GPTShape(**values.pop("shape"))), **values)


class RandomWindows:
    """Random windows of a text of characters, as its get_batch takes them."""

    def __init__(self, run: NanoGPTRun) -> None:
        texts = {split: text(run.data, split) for split in SPLITS}
        number = {character: i for i, character in enumerate(sorted(set("".join(texts.values()))))}
        self.ids = {split: np.array([number[one] for one in texts[split]], dtype=np.uint16) for split in SPLITS}
        self.characters, self.run = len(number), run

    def batch(self, split: str) -> tuple[Tensor, Tensor]:
        """64 windows and the characters that follow, on their way to the device."""
        ids, length = self.ids[split], self.run.shape.block_size
        starts = torch.randint(len(ids) - length, (self.run.batch,)).tolist()
        tokens, targets = (
            torch.stack([torch.from_numpy(ids[i + after : i + after + length].astype(np.int64)) for i in starts])
            for after in (0, 1)
        )
        if self.run.device != "cuda":
            return tokens, targets
        return tokens.pin_memory().to("cuda", non_blocking=True), targets.pin_memory().to("cuda", non_blocking=True)


def learning_rate(run: NanoGPTRun, step: int) -> float:
    """Warm-up, then half a cosine down to the floor at the last step. Its steps begin at 0."""
    if step < run.warmup:
        return run.rate * (step + 1) / (run.warmup + 1)
    done = (step - run.warmup) / (run.steps - run.warmup)
    return run.floor + 0.5 * (1.0 + math.cos(math.pi * done)) * (run.rate - run.floor)


def happenings(run: NanoGPTRun, out: Path) -> Iterator[Mapping[str, Any]]:
    """Train; the best weights so far are saved to `out`, as it does."""
    torch.manual_seed(SEED)
    windows = RandomWindows(run)
    module = NanoGPT(replace(run.shape, vocab_size=windows.characters)).to(run.device)
    optimizer = module.optimizer(rate=run.rate, beta2=0.99)
    model: Any = torch.compile(module) if run.compiled else module
    yield {"kind": "ready"}
    best, ahead = math.inf, windows.batch("train")
    for step in range(run.steps + 1):
        if step % run.evaluate_every == 0 or step == run.steps:
            losses = estimate_loss(run, model, windows)
            if step and losses["val"] < best:
                best = losses["val"]
                torch.save({"model": module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, out)
            yield {"kind": "evaluation", "step": step, "loss": losses["val"], "train": losses["train"]}
            if losses["val"] <= run.wanted or step == run.steps:
                return
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(run, step)
        with torch.autocast(run.device, torch.bfloat16, enabled=run.device == "cuda"):
            loss = model(*ahead)
        ahead = windows.batch("train")  # while the device computes
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % LOG_EVERY == 0:
            loss.item()
        if step == 0:
            yield {"kind": "first"}


@torch.no_grad()
def estimate_loss(run: NanoGPTRun, model: nn.Module, windows: RandomWindows) -> dict[str, float]:
    """The mean loss of random batches of each split, without dropout."""
    model.eval()
    found = {}
    for split in SPLITS:
        losses = torch.zeros(run.evaluated)
        for i in range(run.evaluated):
            with torch.autocast(run.device, torch.bfloat16, enabled=run.device == "cuda"):
                losses[i] = model(*windows.batch(split)).item()
        found[split] = losses.mean().item()
    model.train()
    return found


def main() -> None:
    run = NanoGPTRun.from_json(sys.argv[1]) if len(sys.argv) > 1 else NanoGPTRun()
    torch.set_float32_matmul_precision("high")  # TensorFloat32, as it allows
    with tempfile.TemporaryDirectory() as place:
        for happened in happenings(run, Path(place) / "ckpt.pt"):
            sys.stdout.write(json.dumps(happened) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
