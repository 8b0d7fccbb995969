"""When the memory is full: what would fit, by the ledger."""

from __future__ import annotations

from dataclasses import replace

import torch

from glassformer.config.recipe import RunConfig
from glassformer.errors import InputError
from glassformer.ledger.devices import DEVICES
from glassformer.ledger.job import full_batch
from glassformer.ledger.plan import Plan, plan
from glassformer.ledger.show_plan import gib

SPARE = 0.9  # of the memory; the rest goes to fragments, kernels and the libraries themselves


def plan_of(config: RunConfig) -> Plan:
    """The plan for memory and FLOPs. They do not depend on the device, so any that has the type will do."""
    job = full_batch(config)
    device = next(device for device in DEVICES.values() if (job.dtype or "") in device.peaks)
    return plan(config.name, config.model, tokens=1, device=device, job=job)


def fitting(config: RunConfig, room: int) -> RunConfig | None:
    """The same steps in smaller micro-batches that need at most `room` bytes; None if not even the smallest does."""
    train = config.train
    while train.batch_tokens > 1:
        train = replace(train, batch_tokens=train.batch_tokens // 2, accumulate=train.accumulate * 2)
        smaller = replace(config, train=train)
        if plan_of(smaller).memory_bytes <= room:
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
    asked = {"step": step, "needed": gib(plan_of(config).memory_bytes), "room": gib(room)}
    found = fitting(config, int(SPARE * room))
    if found is None:
        return InputError("out_of_memory", **asked)
    train = found.train
    return InputError("out_of_memory_fits", **asked, tokens=train.batch_tokens, accumulate=train.accumulate)
