"""A training step of an encoder-decoder, against torch's own, Hugging Face's Marian and x-transformers.

Same sizes, same batch, same loss, clipping and Adam; all take turns in one run. The architectures differ in detail, so
their outputs are not compared (bench/peers.py says in what): gpt-step does that, where it is possible. On an
accelerator each takes several steps a turn and is waited for once, as in training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.bench.our_step import FIRST_CALLS, our_step
from glassformer.bench.peers import BOS, EOS, PAD, PEERS, TABLE_OF_POSITIONS, StepSetting, is_installed
from glassformer.bench.references import need_transformers
from glassformer.bench.timing import (
    MATMUL,
    ceiling,
    device_here,
    interleaved,
    spread,
    summary,
    warmed,
)
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import TrainConfig
from glassformer.config.values import Choice
from glassformer.data.batch import PairBatch
from glassformer.ledger.job import Job
from glassformer.ledger.work import work
from glassformer.losses import make_loss
from glassformer.tasks.translation.task import Translation
from glassformer.text import Frame
from glassformer.training.precision import matmul_precision
from glassformer.words import say

SETTINGS = {
    "cpu": StepSetting(64, 24, 256, 3, 1024, 4, 8000, 15),
    "cuda": StepSetting(768, 32, 512, 6, 2048, 8, 32768, 20),
}
CALLS = {"cpu": 1, "cuda": 5}  # steps of a turn
RIVALS = {  # device, compiled → peers
    ("cpu", False): ("torch", "marian", "x_transformers"),
    ("cuda", False): ("torch", "marian"),
    ("cuda", True): ("marian",),  # compiling does not help torch's own
}


def paper_model(setting: StepSetting) -> ModelConfig:
    """The paper's model in these sizes, with one matrix for both embeddings and the output."""
    return ModelConfig(
        vocab_size=setting.vocab_size,
        d_model=setting.d_model,
        n_heads=setting.n_heads,
        d_ff=setting.d_ff,
        n_encoder_layers=setting.n_layers,
        n_decoder_layers=setting.n_layers,
        max_len=TABLE_OF_POSITIONS,
        tie_embeddings="all",
        head=Choice("language_model"),
    )


def trained_model(setting: StepSetting) -> ModelConfig:
    """The same with dropout where the peers have it."""
    return replace(paper_model(setting), dropout=setting.dropout, attention_dropout=0.0, feed_forward_dropout=0.0)


def ours(setting: StepSetting, device: str, compiled: bool) -> Callable[[], None]:
    """A step of the training loop itself, on one batch."""
    task = translating()
    source, target, labels = tokens(setting, device)
    batch = PairBatch(source, None, target, labels, labels.numel())
    train = TrainConfig(clip=1.0)
    return our_step(trained_model(setting), task, batch, train, device=device, compiled=compiled)


def translating() -> Translation:
    """The task of an encoder-decoder, without a corpus."""
    loss = make_loss("cross_entropy", {"smoothing": 0.1})
    return Translation(pad=PAD, source=Frame(end=EOS), target=Frame(BOS, EOS), criterion=loss)


def peer(name: str, setting: StepSetting, device: str, compiled: bool) -> Callable[[], None]:
    """The same step around another model, with torch's own loss, clipping and fused Adam."""
    torch.manual_seed(0)
    module = PEERS[name](setting).to(device).train()
    model: Any = torch.compile(module) if compiled else module
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    source, target, labels = tokens(setting, device)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = F.cross_entropy(model(source, target).flatten(0, 1), labels.flatten(), label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()

    return step


def tokens(setting: StepSetting, device: str) -> tuple[Tensor, ...]:
    shape = (setting.batch, setting.length)
    return tuple(torch.randint(3, setting.vocab_size, shape, device=device) for _ in range(3))


def run() -> dict[str, Any]:
    """Ours and the peers, eager; on an accelerator compiled too."""
    need_transformers("training-step")
    device = device_here()
    setting = SETTINGS[device]
    modes = (True, False) if device == "cuda" else (False,)
    with matmul_precision(MATMUL[device]):
        rows = [measured(setting, device, compiled) for compiled in modes]
        highest = ceiling(device)
    done = work(trained_model(setting), Job(batch=setting.batch, length=setting.length))
    sizes = {"setting": setting._asdict(), "flops": done.model, "parameters": done.parameters}
    return {"device": device, **sizes, "ceiling": highest, "rows": rows}


def measured(setting: StepSetting, device: str, compiled: bool) -> dict[str, Any]:
    """One mode: every candidate is warmed up alone, which gives its memory, then all take turns."""
    torch.compiler.reset()
    rivals = RIVALS[device, compiled]
    makers: dict[str, Callable[[], Callable[[], None]]] = {"glassformer": partial(ours, setting, device, compiled)}
    makers |= {name: partial(peer, name, setting, device, compiled) for name in rivals if is_installed(name)}
    ready = {name: warmed(make, calls=FIRST_CALLS, device=device) for name, make in makers.items()}
    steps = {name: step for name, (step, _) in ready.items()}
    seconds = interleaved(steps, rounds=setting.rounds, calls=CALLS[device], warm_up=1, device=device)
    return {
        "compiled": compiled,
        "calls": CALLS[device],
        "seconds": {name: summary(times) for name, times in seconds.items()},
        "peak": {name: peak for name, (_, peak) in ready.items() if peak is not None},
        "missing": [name for name in rivals if not is_installed(name)],
    }


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time of a step ÷ ours; on an accelerator also target tokens per second and memory.

    Results that were recorded before the ceiling was measured have no such columns.
    """
    tokens, whole = numbers["setting"]["batch"] * numbers["setting"]["length"], "ceiling" in numbers
    titles = ("device", "mode", "model", "against_ours", "spread", "speed")
    lines = [[say(f"columns.{key}", lang) for key in (*titles, *(("of_ceiling", "peak") if whole else ()))]]
    for row in numbers["rows"]:
        base = row["seconds"]["glassformer"]["median"]
        mode = say("bench.compiled" if row["compiled"] else "bench.uncompiled", lang)
        for name, seconds in row["seconds"].items():
            speed = f"{tokens / seconds['median']:,.0f}" if numbers["device"] == "cuda" else "–"
            label = say(f"bench.peers.{name}", lang)
            ratio = f"{seconds['median'] / base:.2f}"
            line = [numbers["device"], mode, label, ratio, spread(seconds, base), speed]
            if whole:
                share = numbers["flops"] / seconds["median"] / numbers["ceiling"]
                line += [f"{100 * share:.1f} %", shown_gib(row["peak"].get(name))]
            lines.append(line)
        for name in row.get("missing", ()):
            label, empty = say(f"bench.peers.{name}", lang), ["–"] * (4 if whole else 2)
            lines.append([numbers["device"], mode, label, say("bench.not_installed", lang), *empty])
    return lines


def shown_gib(peak: int | None) -> str:
    return "–" if peak is None else f"{peak / 2**30:.2f} GiB"
