"""Devices as in their data sheets, and this machine, measured in a few seconds.

Peaks are dense (no sparsity) with float32 accumulation; a link is counted in one direction.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from glassformer.errors import ConfigError, choose

TERA, GIGA = 10**12, 10**9
DEVICE_DTYPES = {"bfloat16": 2, "float16": 2, "float32": 4, "tf32": 4}  # bytes of a number in memory
MEASURED = "this-machine"


@dataclass(frozen=True, kw_only=True)
class Device:
    """One device and the system around it. An empty `sheet` or `system` means that the values are assumed."""

    name: str
    peaks: Mapping[str, float]  # FLOP/s of matrix products, by type
    memory: float  # bytes
    bandwidth: float  # bytes/s, of its memory
    link: float  # bytes/s in one direction to the other devices of its node
    node: int  # devices in a node
    network: float  # bytes/s per device in one direction, from node to node
    sheet: str  # where peaks, memory, bandwidth and link come from
    system: str = ""  # where node and network come from
    accelerator: bool = True  # False: a CPU

    def peak(self, dtype: str) -> float:
        if dtype not in self.peaks:
            raise ConfigError("plan_no_dtype", device=self.name, dtype=dtype, known=", ".join(self.peaks))
        return self.peaks[dtype]

    @property
    def best_dtype(self) -> str:
        """bfloat16 where the device has it, else float16, else float32."""
        return next(dtype for dtype in DEVICE_DTYPES if dtype in self.peaks)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "peaks": dict(self.peaks)}


def _peaks(*, half: float, float32: float, tf32: float | None = None, bfloat16: bool = True) -> dict[str, float]:
    """Peaks given in TFLOP/s, as data sheets print them."""
    found = {"bfloat16": half} if bfloat16 else {}
    found |= {"float16": half, "float32": float32}
    found |= {"tf32": tf32} if tf32 else {}
    return {dtype: tera * TERA for dtype, tera in found.items()}


def _device(
    name: str, peaks: dict[str, float], sizes: tuple[float, float, float], nodes: tuple[int, float], *sources: str
) -> Device:
    """`sizes`: memory in GB, its bandwidth and the link in GB/s; `nodes`: devices in a node, network in GB/s."""
    memory, bandwidth, link = (size * GIGA for size in sizes)
    return Device(
        name=name,
        peaks=peaks,
        memory=memory,
        bandwidth=bandwidth,
        link=link,
        node=nodes[0],
        network=nodes[1] * GIGA,
        sheet=sources[0],
        system=sources[1] if len(sources) > 1 else "",
    )


_HOPPER = _peaks(half=989.4, tf32=494.7, float32=66.9)
_A100 = _peaks(half=312, tf32=156, float32=19.5)
DEVICES: dict[str, Device] = {
    device.name: device
    for device in (
        _device("h200", _HOPPER, (141, 4800, 450), (8, 50), "NVIDIA H200 SXM data sheet", "NVIDIA DGX H200"),
        _device("h100", _HOPPER, (80, 3350, 450), (8, 50), "NVIDIA H100 SXM data sheet", "NVIDIA DGX H100"),
        _device("a100-80", _A100, (80, 2039, 300), (8, 25), "NVIDIA A100 80GB SXM data sheet", "NVIDIA DGX A100"),
        _device("a100-40", _A100, (40, 1555, 300), (8, 25), "NVIDIA A100 40GB SXM data sheet", "NVIDIA DGX A100"),
        _device(
            "l40s",
            _peaks(half=362.05, tf32=183, float32=91.6),
            (48, 864, 32),
            (8, 3.125),
            "NVIDIA L40S data sheet",
        ),
        _device("l4", _peaks(half=121, tf32=60, float32=30.3), (24, 300, 32), (8, 1.5625), "NVIDIA L4 data sheet"),
        _device("t4", _peaks(half=65, float32=8.1, bfloat16=False), (16, 300, 16), (4, 1.5625), "NVIDIA T4 data sheet"),
        _device(
            "v100",
            _peaks(half=125, float32=15.7, bfloat16=False),
            (32, 900, 150),
            (8, 6.25),
            "NVIDIA V100 32GB SXM2 data sheet",
            "NVIDIA DGX-1",
        ),
        _device(
            "p100",
            _peaks(half=21.2, float32=10.6, bfloat16=False),
            (16, 732, 80),
            (8, 6.25),
            "NVIDIA P100 SXM2 data sheet",
            "NVIDIA DGX-1",
        ),
        _device(
            "rtx3090",
            _peaks(half=71, tf32=35.6, float32=35.6),
            (24, 936, 32),
            (4, 1.25),
            "NVIDIA GA102 architecture whitepaper",
        ),
        _device(
            "rtx4090",
            _peaks(half=165.2, tf32=82.6, float32=82.6),
            (24, 1008, 32),
            (4, 1.25),
            "NVIDIA Ada architecture whitepaper",
        ),
    )
}


def device_named(name: str) -> Device:
    """A data sheet, or the measurement of this machine."""
    return choose("device", name, {**DEVICES, MEASURED: None}) or this_machine()


def card_peak(card: str, dtype: str) -> float:
    """FLOP/s of a card by the name that it gives itself ("NVIDIA A100-SXM4-80GB"); if unknown, the least of all."""
    words = card.lower().replace("rtx ", "rtx").replace("-", " ").split()
    peaks = {name: device.peaks[dtype] for name, device in DEVICES.items() if dtype in device.peaks}
    known = (peak for name, peak in peaks.items() if name.partition("-")[0] in words)
    return next(known, min(peaks.values()))


def this_machine(seconds: float = 0.5) -> Device:
    """What the accelerator (or the CPU, if there is none) reaches: products, a copy in memory, free memory.

    bfloat16 is not measured on a CPU: some virtual machines report AMX and kill the process that uses it.
    """
    import torch

    on_cuda = torch.cuda.is_available()
    kind = "cuda" if on_cuda else "cpu"
    types = ("bfloat16", "float16", "float32") if on_cuda else ("float32",)
    return Device(
        name=MEASURED,
        peaks={name: product_rate(kind, name, seconds) for name in types},
        memory=torch.cuda.mem_get_info()[0] if on_cuda else _free_memory(),
        bandwidth=_copies(kind, 2**30 if on_cuda else 2**27, seconds),
        link=32 * GIGA,
        node=torch.cuda.device_count() if on_cuda else 1,
        network=1.25 * GIGA,
        sheet=torch.cuda.get_device_name(0) if on_cuda else f"CPU, {torch.get_num_threads()} threads",
        accelerator=on_cuda,
    )


def _free_memory() -> int:
    from glassformer.models.build import free_memory

    return free_memory() or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def product_rate(kind: str, dtype: str, seconds: float = 0.5) -> float:
    """FLOP/s of a large matrix product, measured now: the ceiling of whatever is made of products."""
    import torch

    size = 8192 if kind == "cuda" else 1024
    a, b = (torch.randn(size, size, device=kind).to(getattr(torch, dtype)) for _ in range(2))
    return 2 * size**3 * _rate(lambda: torch.mm(a, b), kind, seconds)


def _copies(kind: str, size: int, seconds: float) -> float:
    import torch

    source = torch.ones(size, dtype=torch.uint8, device=kind)
    target = torch.empty_like(source)
    return 2 * size * _rate(lambda: target.copy_(source), kind, seconds)  # every byte is read and written


def _rate(work: Any, kind: str, seconds: float) -> float:
    """Calls per second, after two warm-up runs."""
    import torch

    def wait() -> None:
        if kind == "cuda":
            torch.cuda.synchronize()

    for _ in range(2):
        work()
    wait()
    runs, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(4):
            work()
        wait()
        runs += 4
    return runs / (time.perf_counter() - start)
