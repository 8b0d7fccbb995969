"""The memory of a step, by the ledger: what is needed, and when the memory is full, what would fit."""

from __future__ import annotations

from dataclasses import replace

import torch

from glassformer.config.recipe import RunConfig
from glassformer.errors import InputError
from glassformer.ledger.costs import Pass
from glassformer.ledger.devices import DEVICES
from glassformer.ledger.job import full_batch
from glassformer.ledger.memory import memory
from glassformer.ledger.plan import Plan, plan
from glassformer.ledger.show_plan import gib
from glassformer.losses import make_loss
from glassformer.models.build import build
from glassformer.models.stack import Stack
from glassformer.tasks.token_scores import plain_smoothing
from glassformer.tasks.translation.task import Translation, row_without_padding
from glassformer.training.compile import wanted_compiled

KEPT = ("weights", "gradients", "optimizer")  # what FSDP cuts
SPARE = 0.9  # of the memory; the rest goes to fragments, kernels and the libraries themselves


def plan_of(config: RunConfig) -> Plan:
    """The plan for FLOPs. They do not depend on the device, so any that has the type will do."""
    job = full_batch(config)
    device = next(device for device in DEVICES.values() if (job.dtype or "") in device.peaks)
    return plan(config.name, config.model, tokens=1, device=device, job=job)


def full_step(config: RunConfig, device: torch.device) -> Pass:
    """The micro-batch that needs most memory, as it is computed on this device."""
    train, on = config.train, device.type == "cuda"
    job = full_batch(config, _row(config) if on else None)
    chunks = plain_smoothing(make_loss(train.loss.kind, train.loss.options)) is not None
    return Pass(
        batch=job.batch,
        length=job.length or config.model.max_len,
        device="cuda" if on else "cpu",
        autocast=train.precision != "float32",
        optimizer=job.optimizer,
        loss="chunks" if chunks else "whole",
        compiled=wanted_compiled(config, device),
        recompute=train.recompute,
    )


def _row(config: RunConfig) -> int | None:
    """The length of a translator's row without padding; None if its batches are padded there."""
    train, model = config.train, config.model
    if config.task.kind != Translation.name or train.precision == "float32":
        return None
    stacks = [module for module in build(model, device="meta").modules() if isinstance(module, Stack)]
    longest = min(model.max_len, config.data.max_length or model.max_len)
    return row_without_padding(train.batch_tokens, longest) if all(stack.packable for stack in stacks) else None


def needed(config: RunConfig, device: torch.device) -> int:
    """The peak of a step in bytes, with the moving average of the weights if there is one.

    Of a model that is cut over the ranks (FSDP), what training keeps between the steps is this rank's share.
    """
    train, found = config.train, memory(config.model, full_step(config, device))
    average = found.total("weights") if train.ema else 0
    held = sum(map(found.total, KEPT)) + average
    shards = train.ranks or 1 if train.parallel == "fsdp" else 1
    return found.peak + average - (held - held // shards)


def fitting(config: RunConfig, room: int, device: torch.device) -> RunConfig | None:
    """The same steps in smaller micro-batches that need at most `room` bytes; None if not even the smallest does."""
    train = config.train
    while train.batch_tokens > 1:
        train = replace(train, batch_tokens=train.batch_tokens // 2, accumulate=train.accumulate * 2)
        smaller = replace(config, train=train)
        if needed(smaller, device) <= room:
            return smaller
        if full_batch(smaller).batch == 1:
            return None
    return None


def memory_of(device: torch.device) -> int:
    """Its bytes; only an accelerator refuses memory in a way that can be answered."""
    return torch.cuda.get_device_properties(device).total_memory if device.type == "cuda" else 0


def out_of_memory(config: RunConfig, device: torch.device, step: int) -> InputError:
    """The error to raise when a device has refused memory."""
    room = memory_of(device)
    wanted, found = gib(needed(config, device)), fitting(config, int(SPARE * room), device)
    if found is None:
        return InputError("out_of_memory", step=step, needed=wanted, room=gib(room))
    tokens, accumulate = found.train.batch_tokens, found.train.accumulate
    return InputError(
        "out_of_memory_fits", step=step, needed=wanted, room=gib(room), tokens=tokens, accumulate=accumulate
    )
