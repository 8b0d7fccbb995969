"""What devices send each other in a step, and how long it takes: rings, and trees for sums."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from glassformer.ledger.devices import Device
from glassformer.ledger.job import Job
from glassformer.ledger.work import Work

REACHED = 0.8  # share of a link's bandwidth that collectives reach
WITHIN, ACROSS = 3.4e-6, 14e-6  # seconds of a hop inside a node and between nodes: NCCL's own table, graph/tuning.cc
BUCKET = 25 * 2**20  # bytes that DDP reduces at once


@dataclass(frozen=True)
class Traffic:
    """Seconds of network time: in each micro-batch, and once at the end of a step."""

    micro: float
    last: float
    bytes: int  # sent by each device in a step

    def step(self, accumulate: int) -> float:
        return self.micro * accumulate + self.last


def ring(device: Device, devices: int) -> float:
    """Bytes/s at which a ring through all devices moves: a node's network cards work side by side, one per device."""
    return device.link if devices <= device.node else min(device.link, device.node * device.network)


def ring_seconds(device: Device, devices: int, size: float, calls: int) -> float:
    """Once round the ring: the seconds of an all-gather or a reduce-scatter of `size` bytes in `calls` calls."""
    nodes = ceil(devices / device.node)
    hops = (nodes - 1) * ACROSS + (devices - nodes) * WITHIN
    return (devices - 1) / devices * size / (ring(device, devices) * REACHED) + calls * hops


def reduced(device: Device, devices: int, size: float, calls: int) -> float:
    """An all-reduce: the bytes go round twice; the latency is that of a tree over the nodes, up and down."""
    nodes = ceil(devices / device.node)
    hops = (nodes - 1).bit_length() * ACROSS + (ceil(devices / nodes) - 1) * WITHIN
    return 2 * ((devices - 1) / devices * size / (ring(device, devices) * REACHED) + calls * hops)


def traffic(device: Device, job: Job, done: Work) -> Traffic:
    """DDP: an all-reduce of the gradients, once a step. FSDP: weights gathered twice, gradients scattered once.

    FSDP does this in every micro-batch, block by block; with `no_sync` it sends gradients once per step.
    """
    n, parameters = job.devices, done.parameters
    if n == 1:
        return Traffic(0.0, 0.0, 0)
    sent = (n - 1) / n
    if job.parallel == "ddp":
        gradients = parameters * job.state_width
        once = reduced(device, n, gradients, ceil(gradients / BUCKET))
        return Traffic(0.0, once, round(2 * sent * gradients))
    calls = done.blocks + 1
    gather = 2 * ring_seconds(device, n, parameters * job.width, calls)
    scatter = ring_seconds(device, n, parameters * 4, calls)
    if job.no_sync:
        return Traffic(gather, scatter, round(sent * parameters * (2 * job.width * job.accumulate + 4)))
    return Traffic(gather + scatter, 0.0, round(sent * parameters * (2 * job.width + 4) * job.accumulate))
