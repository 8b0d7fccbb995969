from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from glassformer.bench.nanogpt import GPTShape
from glassformer.bench.nanogpt_run import NanoGPTRun, RandomWindows, estimate_loss, happenings, learning_rate

SHAPE = GPTShape(vocab_size=0, block_size=8, n_layer=1, n_head=2, n_embd=16, dropout=0.2)
TINY = NanoGPTRun(
    shape=SHAPE, batch=4, steps=30, warmup=5, rate=1e-2, evaluate_every=10, evaluated=5, device="cpu", compiled=False
)
TEXT = "the cat sat on the mat\n" * 40


@pytest.fixture(autouse=True)
def _text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    (tmp_path / "tinyshakespeare").mkdir()
    (tmp_path / "tinyshakespeare" / "input.txt").write_text(TEXT, encoding="utf-8")


def test_it_trains_evaluates_and_saves(tmp_path: Path) -> None:
    happened = list(happenings(TINY, tmp_path / "ckpt.pt"))
    assert [one["kind"] for one in happened] == ["ready", "evaluation", "first", *["evaluation"] * 3]
    steps = [one["step"] for one in happened if one["kind"] == "evaluation"]
    losses = [one["loss"] for one in happened if one["kind"] == "evaluation"]
    assert steps == [0, 10, 20, 30] and losses[-1] < losses[0]
    saved = torch.load(tmp_path / "ckpt.pt")
    assert saved["step"] == min(zip(losses[1:], steps[1:], strict=True))[1]


def test_it_stops_at_the_loss_that_is_wanted(tmp_path: Path) -> None:
    *_, last = happenings(replace(TINY, wanted=100.0), tmp_path / "ckpt.pt")
    assert last["step"] == 0


@pytest.mark.slow
def test_as_a_process_it_writes_a_line_for_each(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "glassformer.bench.nanogpt_run", replace(TINY, steps=10).to_json()]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [json.loads(line)["kind"] for line in written.splitlines()] == ["ready", "evaluation", "first", "evaluation"]


def test_a_run_survives_json() -> None:
    assert NanoGPTRun.from_json(TINY.to_json()) == TINY


def test_targets_are_the_characters_that_follow() -> None:
    windows = RandomWindows(TINY)
    assert windows.characters == len(set(TEXT))
    tokens, targets = windows.batch("val")
    assert tokens.shape == targets.shape == (4, 8)
    assert torch.equal(tokens[:, 1:], targets[:, :-1])


def test_the_rate_is_nanogpts() -> None:
    """Its get_lr with its configuration: warm-up over 101 steps, the highest at 100, the mean in the middle."""
    run = NanoGPTRun()
    rates = [learning_rate(run, step) for step in (0, 99, 100, 2550, 5000)]
    assert rates == pytest.approx([1e-3 / 101, 1e-3 * 100 / 101, 1e-3, 5.5e-4, 1e-4])


def test_it_is_evaluated_without_dropout_and_trained_with_it() -> None:
    seen: list[bool] = []

    class Model(torch.nn.Module):
        def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
            seen.append(self.training)
            return tokens.float().mean()

    model = Model()
    assert estimate_loss(TINY, model, RandomWindows(TINY)).keys() == {"train", "val"}
    assert seen == [False] * 10 and model.training
