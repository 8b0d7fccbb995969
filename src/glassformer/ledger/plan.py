"""Will it fit, how long will it take, what limits it: a training run from a configuration and a data sheet.

Nothing is run; FLOPs and parameters are exact, and every assumption is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, sqrt
from typing import Any

from glassformer.config.model import ModelConfig
from glassformer.config.values import positive
from glassformer.errors import ConfigError, shown
from glassformer.ledger import show_plan
from glassformer.ledger.devices import Device
from glassformer.ledger.fitting import Item, memory_per_device, peak, remedies
from glassformer.ledger.job import PARALLELS, Job, sample_lengths
from glassformer.ledger.network import ACROSS, REACHED, WITHIN, Traffic, ring, traffic
from glassformer.ledger.reached import ReachedShare, reached_share, update_bytes
from glassformer.ledger.work import Work, work
from glassformer.models.check import check
from glassformer.show import Sheet, as_html, as_text

UTILISATION = 0.4  # assumed share of the peak that the products reach, where no step of ours was recorded
CHINCHILLA = 20  # tokens for each parameter
CURVE = (*(2**power for power in range(14)), 10_000)
SCALES = (1, 8, 64, 1024)  # a device, a node, a few racks, a cluster


@dataclass(frozen=True, repr=False)
class Plan:
    """One job on one kind of device. Prints as tables; `to_json()` is what `--json` prints."""

    model: str
    config: ModelConfig
    job: Job
    device: Device
    tokens: int
    work: Work
    utilisation: float | None  # share of the peak, for everything that is computed
    mfu: float | None  # or as reports state it: the model's own FLOPs in a whole step, as a share of the peak
    price: float | None = None  # per device and hour
    reached: ReachedShare | None = None  # where the utilisation comes from, if it was not given

    # --- memory ---

    @cached_property
    def memory(self) -> tuple[Item, ...]:
        return memory_per_device(self.config, self.job, self.work)

    @property
    def memory_bytes(self) -> int:
        return peak(self.memory)

    @property
    def fits(self) -> bool:
        return self.memory_bytes <= self.device.memory

    # --- seconds of one step ---

    @property
    def peak_flops(self) -> float:
        return self.device.peak(self.job.dtype or self.device.best_dtype)

    @property
    def compute(self) -> float:
        """Seconds for the matrix products of one micro-batch."""
        if self.mfu is not None:
            return self.work.model / (self.peak_flops * self.mfu)
        return (self.work.model + self.work.recomputed) / (self.peak_flops * (self.utilisation or UTILISATION))

    @cached_property
    def activation_traffic(self) -> float:
        """Seconds per micro-batch: activations are written and read once, the weights are read three times."""
        return (self.work.traffic + 3 * self.job.width * self.work.parameters) / self.device.bandwidth

    @property
    def update(self) -> float:
        """Seconds for the optimiser."""
        share = self.work.parameters / self.job.shards
        return update_bytes(share, self.job.optimizer, self.job.state_width) / self.device.bandwidth

    @cached_property
    def traffic(self) -> Traffic:
        return traffic(self.device, self.job, self.work)

    @property
    def step_flops(self) -> dict[str, float]:
        """FLOPs of one device in a step: the model's own, those repeated by checkpointing, and their sum."""
        model, recomputed = (flops * self.job.accumulate for flops in (self.work.model, self.work.recomputed))
        return {"model": model, "again": recomputed, "all": model + recomputed}

    @property
    def network_rate(self) -> float:
        """Bytes/s that a device sends: the part of the ring's speed that collectives reach."""
        return ring(self.device, self.job.devices) * REACHED

    @cached_property
    def limits(self) -> dict[str, float]:
        """Seconds of a step if each resource were the only limit."""
        n = self.job.accumulate
        return {
            "compute": n * self.compute,
            "bandwidth": n * self.activation_traffic + self.update,
            "network": self.traffic.step(n),
        }

    @property
    def limit(self) -> str:
        return max(self.limits, key=lambda name: self.limits[name])

    @cached_property
    def exposed(self) -> float:
        """Network seconds not hidden by computation: FSDP's overlaps a micro-batch, DDP's its backward pass."""
        busy = max(self.compute, self.activation_traffic)
        backward = busy * (1 - self.work.forward / (self.work.model + self.work.recomputed))
        every = max(0.0, self.traffic.micro - busy) * self.job.accumulate
        return every + max(0.0, self.traffic.last - backward)

    @cached_property
    def step(self) -> float:
        if self.mfu is not None:  # an MFU refers to a whole step, waiting included
            return max(self.limits.values())
        return max(self.compute, self.activation_traffic) * self.job.accumulate + self.exposed + self.update

    # --- the whole run ---

    @property
    def step_tokens(self) -> int:
        return self.work.tokens * self.job.accumulate * self.job.devices

    @property
    def steps(self) -> int:
        return ceil(self.tokens / self.step_tokens)

    @property
    def rate(self) -> float:
        """Tokens/s of one device."""
        return self.work.tokens * self.job.accumulate / self.step

    @property
    def seconds(self) -> float:
        return self.steps * self.step

    @property
    def reached_mfu(self) -> float:
        return self.work.model * self.job.accumulate / (self.step * self.peak_flops)

    @property
    def device_hours(self) -> float:
        return self.seconds * self.job.devices / 3600

    @property
    def cost(self) -> float | None:
        return None if self.price is None else self.device_hours * self.price

    # --- besides the exact figures ---

    @cached_property
    def flops(self) -> dict[str, float]:
        """FLOPs of one token, forward and backward: exact, and by rules of thumb."""
        layers, source = (
            self.config.encoder_layers + self.config.decoder_layers,
            sample_lengths(self.config, self.job)[0],
        )
        six = 6 * self.work.parameters
        return {
            "exact": self.work.model / self.work.tokens,
            "triangle": self.work.triangle / self.work.tokens,
            "recomputed": self.work.recomputed / self.work.tokens,
            "six_n": six,
            "six_n_attention": six + 12 * layers * self.config.d_model * source,
        }

    @property
    def chinchilla(self) -> dict[str, float]:
        """Hoffmann et al. 2022: 20 tokens for each parameter, so C = 6·N·D = 120·N² for the best N."""
        parameters = sqrt(6 * self.work.parameters * self.tokens / (6 * CHINCHILLA))
        return {
            "tokens_for_this_model": CHINCHILLA * self.work.parameters,
            "parameters_for_this_compute": parameters,
            "tokens_for_this_compute": CHINCHILLA * parameters,
        }

    def on(self, devices: int) -> Plan:
        return replace(self, job=replace(self.job, devices=devices))

    @cached_property
    def curve(self) -> tuple[Plan, ...]:
        """The same on 1, 2, 4 … 10,000 devices: the micro-batch stays the same, so the batch grows."""
        return tuple(self.on(devices) for devices in CURVE)

    @cached_property
    def scales(self) -> tuple[Plan, ...]:
        """The same on a device, a node, a few racks and a cluster, each with weights kept whole and spread."""
        several = (replace(self.job, devices=n, parallel=way) for n in SCALES if n > 1 for way in PARALLELS)
        return (self.on(1), *(replace(self, job=job) for job in several))

    def with_job(self, job: Job) -> Plan:
        return replace(self, job=job, work=work(self.config, job))

    @cached_property
    def remedies(self) -> tuple[str, ...]:
        return remedies(self)

    # --- how it shows itself ---

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "parameters": self.work.parameters,
            "tokens": self.tokens,
            "job": {**vars(self.job), "length": sample_lengths(self.config, self.job)[0]},
            "device": self.device.to_json(),
            "fits": self.fits,
            "remedies": list(self.remedies),
            "memory": {
                "bytes": self.memory_bytes,
                "available": self.device.memory,
                "items": [item.to_json() for item in self.memory],
            },
            "flops_per_token": self.flops,
            "step": self.resources(),
            "step_flops": self.step_flops,
            "network": {"sent_bytes": self.traffic.bytes, "bytes_per_second": self.network_rate},
            "limit": self.limit,
            "tokens_per_second_per_device": self.rate,
            "mfu": self.reached_mfu,
            "step_tokens": self.step_tokens,
            "steps": self.steps,
            "seconds": self.seconds,
            "device_hours": self.device_hours,
            "cost": self.cost,
            "chinchilla": self.chinchilla,
            "assumptions": {
                "utilisation": self.utilisation,
                "utilisation_from": None if self.reached is None else self.reached.to_json(),
                "mfu": self.mfu,
                "link_share": REACHED,
                "hop_seconds": {"within_node": WITHIN, "across_nodes": ACROSS},
                "network_overlaps": True,
                "causal": self.job.causal,
            },
            "curve": [each.point() for each in self.curve],
            "scales": [
                {**each.point(), "parallel": each.job.parallel, "step": each.resources()} for each in self.scales
            ],
        }

    def resources(self) -> dict[str, float]:
        """Seconds of a step: for each resource alone, and all together."""
        return {**self.limits, "exposed_network": self.exposed, "optimizer": self.update, "seconds": self.step}

    def point(self) -> dict[str, Any]:
        """One point of the curve."""
        return {
            "devices": self.job.devices,
            "fits": self.fits,
            "memory_bytes": self.memory_bytes,
            "seconds": self.seconds,
            "tokens_per_second": self.rate * self.job.devices,
            "mfu": self.reached_mfu,
            "limit": self.limit,
            "step_tokens": self.step_tokens,
            "cost": self.cost,
        }

    def __rich__(self) -> Sheet:
        return show_plan.whole(self, None)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(show_plan.whole(self, None))


def plan(
    model: str,
    config: ModelConfig,
    *,
    tokens: int,
    device: Device,
    job: Job,
    utilisation: float | None = None,
    mfu: float | None = None,
    price: float | None = None,
) -> Plan:
    """The plan of a job. `utilisation` and `mfu` exclude each other; without either it is what was recorded."""
    if utilisation is not None and mfu is not None:
        raise ConfigError("plan_both", utilisation=utilisation, mfu=mfu)
    check(config)
    job = job if job.dtype else replace(job, dtype=device.best_dtype)
    done = work(config, job)
    reached = reached_share(device, done.model / done.tokens) if utilisation is None and mfu is None else None
    default = UTILISATION if reached is None else reached.share
    made = Plan(
        model=model,
        config=config,
        job=job,
        device=device,
        tokens=tokens,
        work=done,
        utilisation=None if mfu is not None else _share("utilisation", default if utilisation is None else utilisation),
        mfu=None if mfu is None else _share("mfu", mfu),
        price=None if price is None else positive("price", price),
        reached=reached,
    )
    device.peak(job.dtype or "")
    return made


def _share(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ConfigError("plan_share", key=key, value=shown(value))
    return float(value)
