"""Sentences of all lengths: our steps, whose batches hold no padding, against torch's own Transformer, padded.

Both train the model of the Multi30k recipe on the same sentences, batch by batch; only real target tokens count. The
batches are made beforehand and lie on the device, so what is timed is the step alone. Before that both compute the loss
of a batch with the same weights in float32, ours without padding, and must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from glassformer.bench.gpt_step import refuse_unequal
from glassformer.bench.peers import StepSetting, TorchTransformer, from_torch
from glassformer.bench.timing import (
    MATMUL,
    PRECISIONS,
    interleaved,
    need_accelerator,
    spread,
    summary,
    warmed,
)
from glassformer.bench.training_step import shown_gib
from glassformer.config.recipe import RunConfig
from glassformer.data.batch import PairBatch
from glassformer.data.examples import Example
from glassformer.data.find import at_hand
from glassformer.loading import open_recipe
from glassformer.losses import IGNORE
from glassformer.models.build import build
from glassformer.tasks import Material, kind_of
from glassformer.training.precision import matmul_precision
from glassformer.training.state import TrainingState, longest_text
from glassformer.training.validate import make_sampler
from glassformer.words import say

RECIPE, SET, INSTEAD = "multi30k-en-de", "multi30k", "ko-en"
BATCHES, ROUNDS = 40, 7
RATE = 1e-4


def recipe(device: str) -> tuple[RunConfig, str]:
    """The recipe, and whose sentences it reads: where its set is not at hand, those of the built-in grammar."""
    changes = {"train.device": device, "train.precision": PRECISIONS[device]}
    config = open_recipe(RECIPE, changes)
    if at_hand(SET):
        return config, SET
    other = open_recipe(INSTEAD)
    return replace(config, data=other.data, text=other.text), "grammar"


def examples(material: Material, count: int) -> list[list[Example]]:
    """The sentences of the first batches of the first epoch, as training draws them."""
    sampler = make_sampler(material.training, material.task, material.config.train)
    return [[material.training[int(i)] for i in indexes] for indexes in sampler.batches(0)[:count]]


def ours(material: Material, taken: Sequence[list[Example]], device: str) -> Callable[[], None]:
    """All batches once, by the training loop's own state."""
    config = material.config
    model = build(config.model, seed=0)
    state = TrainingState.begin(config, model, material.task, material.training, torch.device(device))
    batches = [state.task.collate(some).to(state.device) for some in taken]

    def steps() -> None:
        for batch in batches:
            state.stepper.take_step([batch], RATE)

    return steps


def padded(material: Material, taken: Sequence[list[Example]]) -> list[PairBatch]:
    """The same sentences with padding, as the task makes them where it knows no better."""
    return [material.task.collate(some) for some in taken]


def theirs(material: Material, taken: Sequence[list[Example]], device: str) -> Callable[[], None]:
    """All batches once, by torch's own layers, loss, clipping and fused Adam; eager: each batch has its own shape."""
    config, place = material.config, torch.device(device)
    torch.manual_seed(0)
    model = TorchTransformer(_sizes(config), pre_norm=config.model.norm_order == "pre").to(place).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9, fused=True)
    smoothing = float(config.train.loss.options["smoothing"])
    batches = [batch.to(place) for batch in padded(material, taken)]

    def step(batch: PairBatch) -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits = model(batch.source, batch.target_in, batch.source_mask).flatten(0, 1)
            right = batch.target_out.flatten()
            loss = F.cross_entropy(logits, right, ignore_index=IGNORE, label_smoothing=smoothing)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), config.train.clip)
        optimizer.step()

    def steps() -> None:
        for batch in batches:
            step(batch)

    return steps


def difference(material: Material, some: list[Example], device: str) -> float:
    """|our loss without padding − torch's with padding|, same weights and positions, no dropout, float32."""
    config, place = material.config, torch.device(device)
    mine = build(replace(config.model, dropout=0.0), seed=0, device=device).train()
    torch.manual_seed(0)
    theirs = TorchTransformer(_sizes(config)._replace(dropout=0.0), pre_norm=True).to(place)
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.normal_(*((0.0, weight.shape[-1] ** -0.5) if weight.dim() > 1 else (0.5, 0.2)))
    mine.load_state_dict(from_torch(theirs.state_dict()))
    theirs.positions = nn.Parameter(mine.get_buffer("encoder.positions.table").clone())
    task = material.task.of_one_size(config.train, longest_text(config, material.task))
    batch = material.task.collate(some).to(place)
    with matmul_precision("highest"):
        found = task.loss(mine, task.collate(some).to(place))
        logits = theirs(batch.source, batch.target_in, batch.source_mask).flatten(0, 1)
        smoothing = float(config.train.loss.options["smoothing"])
        wanted = F.cross_entropy(logits, batch.target_out.flatten(), ignore_index=IGNORE, label_smoothing=smoothing)
    return abs((found.total / batch.count).item() - wanted.item())


def _sizes(config: RunConfig) -> StepSetting:
    model = config.model
    assert model.vocab_size is not None and model.encoder_layers == model.decoder_layers
    return StepSetting(
        batch=0,
        length=0,
        d_model=model.d_model,
        n_layers=model.encoder_layers,
        d_ff=model.d_ff,
        n_heads=model.n_heads,
        vocab_size=model.vocab_size,
        rounds=ROUNDS,
        dropout=model.dropout,
    )


def run() -> dict[str, Any]:
    """The first batches of an epoch, again and again; the two sides take turns."""
    need_accelerator("ragged")
    device = "cuda"
    config, source = recipe(device)
    material = kind_of(config).task.begin(config)
    with matmul_precision(MATMUL[device]):
        return {"device": device, "source": source, **measured(material, device, batches=BATCHES, rounds=ROUNDS)}


def measured(material: Material, device: str, *, batches: int, rounds: int) -> dict[str, Any]:
    """Each side alone for its memory, then in turns for the time."""
    taken = examples(material, batches)
    rows = padded(material, taken)
    apart = difference(material, taken[0], device)
    refuse_unequal("ragged", apart)
    makers = {"glassformer": partial(ours, material, taken, device), "torch": partial(theirs, material, taken, device)}
    ready = {side: warmed(make, calls=1, device=device) for side, make in makers.items()}
    steps = {side: call for side, (call, _) in ready.items()}
    seconds = interleaved(steps, rounds=rounds, warm_up=1, device=device)
    real = sum(batch.count for batch in rows)
    return {
        "batches": len(rows),
        "difference": apart,
        "tokens": real,
        "padding": 1 - real / int(np.sum([batch.target_out.numel() for batch in rows])),
        "seconds": {side: summary(times) for side, times in seconds.items()},
        "peak": {side: peak for side, (_, peak) in ready.items() if peak is not None},
    }


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time ÷ ours, real target tokens per second, and how much of the target is padding on the padded side."""
    titles = ("sentences", "side", "against_ours", "spread", "real_tokens", "padding", "peak")
    lines = [[say(f"columns.steps.{key}", lang) for key in titles]]
    base = numbers["seconds"]["glassformer"]["median"]
    source = say(f"bench.sentences.{numbers['source']}", lang)
    for side, seconds in numbers["seconds"].items():
        waste = f"{100 * numbers['padding']:.1f} %" if side == "torch" else "–"
        ratio, speed = f"{seconds['median'] / base:.2f}", f"{numbers['tokens'] / seconds['median']:,.0f}"
        about = [source, say(f"bench.peers.{side}", lang), ratio, spread(seconds, base), speed]
        lines.append([*about, waste, shown_gib(numbers["peak"].get(side))])
    return lines
