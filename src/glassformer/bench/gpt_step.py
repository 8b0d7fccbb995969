"""A training step of a decoder against nanoGPT's: GPT-2 124M, and the character model of shakespeare-char.

Both sides compiled, in bf16, with the same dropout, clipping, fused AdamW and precision of products. Before anything is
timed, both compute the loss of the same tokens with the same weights in float32, and must agree. Either side takes
several steps a turn and is waited for once, as in training. A third side is ours with `train.deterministic = true`,
which allows only kernels that give the same bits every time: what that costs.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.bench.nanogpt import CHARACTER_MODEL, GPT2_124M, GPTShape, NanoGPT
from glassformer.bench.our_step import FIRST_CALLS, our_step
from glassformer.bench.timing import (
    MATMUL,
    ceiling,
    interleaved,
    need_accelerator,
    spread,
    summary,
    warmed,
)
from glassformer.bench.training_step import shown_gib
from glassformer.config.model import ModelConfig
from glassformer.config.recipe import TrainConfig
from glassformer.config.values import BIASES, Choice
from glassformer.data.stream import StreamBatch
from glassformer.errors import InputError
from glassformer.ledger.job import Job
from glassformer.ledger.work import Work, work
from glassformer.losses import make_loss
from glassformer.models.build import build
from glassformer.provenance import machine
from glassformer.tasks.language_model.task import LanguageModel, WindowOptions
from glassformer.training.precision import matmul_precision
from glassformer.training.seed import settings
from glassformer.words import say

LIMIT = 1e-5  # of the difference of two losses
SLOWER = 0.05  # a rebuilt peer that is slower than its figure by more than this does not count
ALIKE = (4, 128)  # batch and length of the tokens on which the losses are compared


class GPTStep(NamedTuple):
    """One shape: nanoGPT's, the vocabulary that ours has, and what nanoGPT's own code reaches on `card`.

    A turn is `calls` steps of one side, as a training loop takes them: without waiting for the device in between.
    """

    shape: GPTShape
    vocab_size: int
    batch: int
    rounds: int
    figures: tuple[float, float]  # tokens per second, lowest and highest seen
    card: str = "H200"
    calls: int = 1


CHARACTERS = 64 * 256  # of a step of the character model
STEPS = {
    "gpt2": GPTStep(GPT2_124M, vocab_size=50257, batch=32, rounds=20, figures=(502e3, 504e3), calls=5),
    "shakespeare-char": GPTStep(
        CHARACTER_MODEL,
        vocab_size=65,
        batch=64,
        rounds=60,
        figures=(CHARACTERS / 9.97e-3, CHARACTERS / 8.8e-3),
        calls=10,
    ),
}


def decoder(shape: GPTShape, vocab_size: int | None = None) -> ModelConfig:
    """nanoGPT's model as a configuration of ours; it has no dropout inside the feed-forward network."""
    return ModelConfig(
        family="decoder",
        vocab_size=vocab_size or shape.vocab_size,
        d_model=shape.n_embd,
        n_heads=shape.n_head,
        d_ff=4 * shape.n_embd,
        n_decoder_layers=shape.n_layer,
        max_len=shape.block_size,
        position=Choice("learned"),
        norm_order="pre",
        activation="gelu",
        bias=BIASES if shape.bias else (),
        dropout=shape.dropout,
        feed_forward_dropout=0.0,
        embedding_scale=False,
        tie_embeddings="output",
        init="gpt2",
        head=Choice("language_model", {"bias": False}),
    )


def our_names(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """nanoGPT's weights, or their gradients, under our names; its q, k and v are one matrix, one above the other."""
    outside = {"wte": "embedding", "wpe": "decoder.positions", "ln_f": "decoder.final_norm"}
    inside = {
        "ln_1": "self_attention_norm",
        "attn.c_proj": "self_attention.w_o",
        "ln_2": "feed_forward_norm",
        "c_fc": "feed_forward.w_1",
        "c_proj": "feed_forward.w_2",
    }
    found = {}
    for path, tensor in tensors.items():
        name, kind = path.rsplit(".", 1)
        if name == "lm_head":  # the embedding again
            continue
        if name in outside:
            found[f"{outside[name]}.{kind}"] = tensor
            continue
        _, layer, part = name.split(".", 2)
        block = f"decoder.blocks.{layer}"
        if part == "attn.c_attn":
            for each, rows in zip("qkv", tensor.chunk(3), strict=True):
                found[f"{block}.self_attention.w_{each}.{kind}"] = rows
        else:
            found[f"{block}.{inside[part]}.{kind}"] = tensor
    return found


def pair(shape: GPTShape, device: str) -> tuple[nn.Module, NanoGPT]:
    """Our model and nanoGPT's with the same weights, without dropout.

    The weights are larger than those that training starts from, and no γ is 1: nothing may hide behind a small number.
    """
    still = replace(shape, dropout=0.0)
    torch.manual_seed(0)
    theirs = NanoGPT(still)
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.normal_(*((0.0, weight.shape[-1] ** -0.5) if weight.dim() > 1 else (1.0, 0.2)))
    theirs.to(device)
    mine = build(decoder(still), seed=0, device=device)
    mine.load_state_dict(our_names(theirs.state_dict()))
    return mine.train(), theirs.train()


def losses(mine: nn.Module, theirs: NanoGPT, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The mean loss of the same tokens, ours by the task that training uses."""
    batch = StreamBatch(rows, rows[:, 1:].numel())
    found = writing(rows.shape[1] - 1).loss(mine, batch)
    return found.total / batch.count, theirs(batch.tokens.contiguous(), batch.targets.contiguous())


def difference(shape: GPTShape, device: str, batch: int, length: int) -> float:
    """|our loss − nanoGPT's| in float32."""
    mine, theirs = pair(shape, device)
    with matmul_precision("highest"):
        ours, yours = losses(mine, theirs, _rows(shape.vocab_size, batch, length, device))
    return abs(ours.item() - yours.item())


def refuse_unequal(name: str, found: float) -> None:
    """Raises unless both sides do the same work."""
    if not found <= LIMIT:
        raise InputError("bench_unequal", name=name, difference=f"{found:.2e}", limit=LIMIT)


def writing(context: int) -> LanguageModel:
    """The task of a decoder, without a corpus."""
    return LanguageModel(reading=WindowOptions(context=context), pad=0, criterion=make_loss("cross_entropy", {}))


def ours(work: GPTStep, device: str, compiled: bool = True) -> Callable[[], None]:
    shape = work.shape
    rows = _rows(work.vocab_size, work.batch, shape.block_size, device)
    adamw = Choice("adamw", {"weight_decay": 0.1, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8})
    train = TrainConfig(clip=1.0, optimizer=adamw)
    batch = StreamBatch(rows, rows[:, 1:].numel())
    config = decoder(shape, work.vocab_size)
    return our_step(config, writing(shape.block_size), batch, train, device=device, compiled=compiled)


def deterministic(work: GPTStep, device: str, compiled: bool = True) -> Callable[[], None]:
    """Our step as `train.deterministic = true` takes it."""
    with settings(deterministic=True, threads=None):
        step = ours(work, device, compiled)

    def same_every_time() -> None:
        with settings(deterministic=True, threads=None):
            step()

    return same_every_time


def nanogpt(work: GPTStep, device: str, compiled: bool = True) -> Callable[[], None]:
    """The step of its train.py, with one micro-batch."""
    torch.manual_seed(0)
    module = NanoGPT(work.shape).to(device).train()
    model: Any = torch.compile(module) if compiled else module
    optimizer = module.optimizer()
    rows = _rows(work.shape.vocab_size, work.batch, work.shape.block_size, device)
    tokens, targets = rows[:, :-1].contiguous(), rows[:, 1:].contiguous()

    def step() -> None:
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = model(tokens, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


SIDES: dict[str, Callable[[GPTStep, str, bool], Callable[[], None]]] = {
    "glassformer": ours,
    "nanogpt": nanogpt,
    "deterministic": deterministic,
}


def _rows(vocab_size: int, batch: int, length: int, device: str) -> Tensor:
    return torch.randint(vocab_size, (batch, length + 1), generator=torch.Generator().manual_seed(0)).to(device)


def run() -> dict[str, Any]:
    """Both shapes; in each the sides take turns."""
    need_accelerator("gpt-step")
    device, card = "cuda", machine()["accelerator"]
    with matmul_precision(MATMUL[device]):
        rows = [measured(name, step, device, card) for name, step in STEPS.items()]
        return {"device": device, "ceiling": ceiling(device), "rows": rows}


def measured(name: str, step: GPTStep, device: str, card: str, compiled: bool = True) -> dict[str, Any]:
    """One shape: equal first, then each alone for its memory, then in turns for the time."""
    apart = difference(
        replace(step.shape, vocab_size=step.vocab_size), device, ALIKE[0], min(ALIKE[1], step.shape.block_size)
    )
    refuse_unequal(name, apart)
    if device == "cuda":
        torch.compiler.reset()
        gc.collect()
    vocabulary = dict.fromkeys(SIDES, step.vocab_size) | {"nanogpt": step.shape.vocab_size}
    makers = {side: partial(make, step, device, compiled) for side, make in SIDES.items()}
    ready = {side: warmed(make, calls=FIRST_CALLS, device=device) for side, make in makers.items()}
    steps = {side: call for side, (call, _) in ready.items()}
    seconds = interleaved(steps, rounds=step.rounds, calls=step.calls, device=device)
    return {
        "model": name,
        "batch": step.batch,
        "length": step.shape.block_size,
        "calls": step.calls,
        "difference": apart,
        "vocabulary": vocabulary,
        "seconds": {side: summary(times) for side, times in seconds.items()},
        "peak": {side: peak for side, (_, peak) in ready.items() if peak is not None},
        "flops": {side: flops(step, words) for side, words in vocabulary.items()},
        "parameters": one_batch(step, step.vocab_size).parameters,
        "figures": list(step.figures) if step.card in card else None,
    }


def flops(step: GPTStep, vocab_size: int) -> int:
    """Of the products of a step, attention counted as the full square, as nanoGPT counts it."""
    return one_batch(step, vocab_size).model


def one_batch(step: GPTStep, vocab_size: int) -> Work:
    return work(decoder(step.shape, vocab_size), Job(batch=step.batch, length=step.shape.block_size))


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time of a step ÷ ours, and whether the rebuilt nanoGPT is as fast as nanoGPT's own code was."""
    titles = ("model", "side", "vocabulary", "milliseconds", "against_ours", "spread", "tokens", "of_ceiling", "peak")
    lines = [[say(f"columns.steps.{key}", lang) for key in (*titles, "against_figure")]]
    for row in numbers["rows"]:
        base, tokens = row["seconds"]["glassformer"]["median"], row["batch"] * row["length"]
        for side, seconds in row["seconds"].items():
            speed = tokens / seconds["median"]
            share = row["flops"][side] / seconds["median"] / numbers["ceiling"]
            about = [row["model"], say(f"bench.peers.{side}", lang), f"{row['vocabulary'][side]:,}"]
            about += [f"{1000 * seconds['median']:.2f}", f"{seconds['median'] / base:.2f}", spread(seconds, base)]
            about += [f"{speed:,.0f}", f"{100 * share:.1f} %", shown_gib(row["peak"].get(side))]
            lines.append([*about, _against_figure(speed, row["figures"] if side == "nanogpt" else None, lang)])
    return lines


def apart_from(speed: float, figures: Sequence[float]) -> float:
    """By which share a speed lies below the lowest figure (negative) or above the highest; 0 between them."""
    low, high = figures
    return min(speed / low - 1, 0.0) + max(speed / high - 1, 0.0)


def _against_figure(speed: float, figures: Sequence[float] | None, lang: str) -> str:
    """A rebuilt peer is a fair one unless it is slower than its figures by more than 5 %."""
    if figures is None:
        return "–"
    apart = apart_from(speed, figures)
    key = "bench.counts" if apart >= -SLOWER else "bench.does_not_count"
    return say(key, lang, apart=f"{100 * apart:+.1f} %")
