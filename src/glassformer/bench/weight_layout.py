"""Three ways to store W_Q, W_K and W_V, timed in a whole training step: the basis for our weight layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.bench.timing import device_here, interleaved, summary
from glassformer.layers.attention import Mask
from glassformer.layers.attention.kernel import fused
from glassformer.models.encoder import Encoder
from glassformer.words import say

LAYOUTS = ("separate", "concatenated", "fused")


class LayoutSetting(NamedTuple):
    """The sizes of a step, and how often it is timed."""

    batch: int
    length: int
    d_model: int
    n_layers: int
    rounds: int


SETTINGS = {
    "cpu": [LayoutSetting(batch=64, length=24, d_model=256, n_layers=6, rounds=15)],
    "cuda": [
        LayoutSetting(batch=768, length=32, d_model=512, n_layers=6, rounds=30),
        LayoutSetting(batch=32, length=1024, d_model=768, n_layers=12, rounds=20),
        LayoutSetting(batch=64, length=256, d_model=384, n_layers=6, rounds=50),
    ],
}


class LayoutCandidate(nn.Module):
    """Self-attention with one of the three layouts; everything else as in MultiHeadAttention."""

    def __init__(self, layout: str, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.layout, self.n_heads = layout, n_heads
        if layout == "fused":
            self.w_qkv = nn.Linear(d_model, 3 * d_model)
        else:
            self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, *_: Any, **__: Any) -> Tensor:
        match self.layout:
            case "separate":
                q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            case "concatenated":  # three parameters, one product
                parts = (self.w_q, self.w_k, self.w_v)
                weight, bias = torch.cat([w.weight for w in parts]), torch.cat([w.bias for w in parts])
                q, k, v = F.linear(x, weight, bias).chunk(3, -1)
            case _:
                q, k, v = self.w_qkv(x).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in (q, k, v))  # b h t d_k
        mixed = fused(q, k, v, Mask(), bias=None, scale=q.shape[-1] ** -0.5, dropout=0.0)
        return self.w_o(mixed.transpose(1, 2).flatten(2))


def step(layout: str, device: str, compiled: bool, setting: LayoutSetting) -> Callable[[], None]:
    """One training step of an encoder with this layout: forward, backward, AdamW; bfloat16 on an accelerator."""
    d_model = setting.d_model
    torch.manual_seed(0)
    encoder = Encoder(
        d_model=d_model, n_heads=d_model // 64, d_ff=4 * d_model, n_layers=setting.n_layers, norm_order="pre"
    )
    for block in encoder.blocks:
        block.self_attention = LayoutCandidate(layout, d_model, d_model // 64)
    encoder = encoder.to(device)
    optimizer = torch.optim.AdamW(encoder.parameters(), fused=True)
    x = torch.randn(setting.batch, setting.length, d_model, device=device)
    model = torch.compile(encoder, fullgraph=True) if compiled else encoder

    def train() -> None:
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return train


def run() -> dict[str, Any]:
    """Every layout on this machine's device, eager (and compiled on an accelerator), taking turns."""
    device = device_here()
    rows = []
    for setting in SETTINGS[device]:
        for compiled in (False, True) if device == "cuda" else (False,):
            torch.compiler.reset()  # the same code gives many graphs: each setting compiles anew
            steps = {layout: step(layout, device, compiled, setting) for layout in LAYOUTS}
            seconds = interleaved(steps, rounds=setting.rounds, device=device)
            rows.append(
                {
                    "device": device,
                    "setting": {key: size for key, size in setting._asdict().items() if key != "rounds"},
                    "compiled": compiled,
                    "seconds": {layout: summary(times) for layout, times in seconds.items()},
                }
            )
    return {"rows": rows}


def table(numbers: dict[str, Any], lang: str) -> list[list[str]]:
    """Time of a step against the separate layout (below 1: faster)."""
    lines = [[say(f"columns.{key}", lang) for key in ("device", "setting", "mode", *LAYOUTS)]]
    for row in numbers["rows"]:
        base = row["seconds"]["separate"]["median"]
        mode = say("bench.compiled" if row["compiled"] else "bench.eager", lang)
        cells = [row["device"], say("bench.setting", lang, **row["setting"]), mode]
        for layout in LAYOUTS:
            seconds = row["seconds"][layout]
            spread = (seconds["high"] - seconds["low"]) / base / 2
            cells.append(f"{seconds['median'] / base:.3f} ± {spread:.3f}")
        lines.append(cells)
    return lines
