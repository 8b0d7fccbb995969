"""What a page of the explorer must show, computed again by `gf` from the same checkpoint: numbers, colours, masks."""

from __future__ import annotations

import base64
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.explorer.inputs import read

LIGHT = {"low": (178, 74, 34), "zero": (246, 247, 250), "high": (28, 76, 172), "none": (222, 225, 232)}
DARK = {"low": (255, 158, 100), "zero": (27, 31, 41), "high": (122, 176, 255), "none": (52, 57, 70)}
MAPS = ("scores", "weights")  # travel as float16
DRAWN = """root => [...root.querySelectorAll('canvas')].map(canvas => {
    const own = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
    own.drawImage(canvas, 0, 0);
    const bytes = own.getImageData(0, 0, canvas.width, canvas.height).data;
    const strip = canvas.closest('.strip')?.dataset ?? {};
    const [name, head] = [canvas.dataset.map ?? strip.strip ?? '', canvas.dataset.head ?? strip.head ?? ''];
    return {name, head: head === '' ? null : Number(head), row: strip.row === undefined ? null : Number(strip.row),
        rows: canvas.height, columns: canvas.width, masked: canvas.className === 'map-canvas',
        pixels: btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))};
})"""


class Truth:
    """A pass of a model, recorded by `gf.record`, in the form in which the page names it."""

    def __init__(self, model: str | Path, given: dict[str, Any]) -> None:
        self.loaded: Any = gf.load(model)
        self.given = read(self.loaded, given)
        self.read: dict[str, Tensor] = {}  # what each norm read
        norms = [(name, module) for name, module in self.loaded.model.named_modules() if name.endswith("norm")]
        handles = [module.register_forward_pre_hook(partial(self._enter, name)) for name, module in norms]
        with torch.no_grad(), gf.record(self.loaded.model) as trace:
            self.output = self.given.run(self.loaded.model, self.given.inputs)[0]
        for handle in handles:
            handle.remove()
        self.tensors: dict[str, Tensor] = {
            name: x if name.endswith(".encoding") and x.dim() == 2 else x[0] for name, x in trace.tensors.items()
        }

    def _enter(self, name: str, _: nn.Module, x: tuple[Tensor, ...]) -> None:
        self.read[name] = x[0][0]

    def matrix(self, name: str, head: int | None = None) -> Tensor:
        """The numbers that a map shows: rows × columns."""
        x = self.tensors[name].float()
        if name.rpartition(".")[2] in MAPS:
            x = x.half().float()
        if x.dim() > 2:
            heads = self.loaded.config.model.n_heads if head is not None else 1
            x = x.reshape(-1, *x.shape[-2:])[(head or 0) * x.shape[-3] // heads]
        return x if x.dim() == 2 else x[None]

    def mask(self, name: str) -> Tensor | None:
        """Where a map may be looked at: of a text that is written, nothing that comes later."""
        causal = getattr(getattr(self.loaded.model, "decoder", None), "causal", False)
        if not (
            causal and name.startswith("decoder") and name.endswith(tuple(f"self_attention.{tap}" for tap in MAPS))
        ):
            return None
        x = self.matrix(name, 0)
        return torch.ones_like(x).tril().bool() if x.shape[0] > 1 else None


def colours(x: Tensor, most: float, *, mask: Tensor | None = None, dark: bool = False) -> np.ndarray:
    """The pixels of a map: r g b for each number. `most` has the full colour."""
    palette = {key: np.array(value, dtype=np.float64) for key, value in (DARK if dark else LIGHT).items()}
    steps = np.arange(-255, 256)[:, None]
    towards = np.where(steps < 0, palette["low"], palette["high"])
    table = np.floor(palette["zero"] + (towards - palette["zero"]) * np.abs(steps) / 255 + 0.5)
    share = np.clip(x.double().numpy() / most, -1, 1)
    pixels = table[np.floor(share * 255 + 0.5).astype(int) + 255]
    if mask is not None:
        pixels[~mask.numpy()] = palette["none"]
    return pixels.astype(np.uint8)


def reach(*tensors: Tensor) -> float:
    return max(float(x.abs().max()) for x in tensors) or 1.0


def drawn(page: Any, root: str) -> list[dict[str, Any]]:
    """Every canvas below `root`: what it says that it shows, and its pixels."""
    return pixels(page.evaluate(f"root => ({DRAWN})(document.querySelector(root))", root))


def pixels(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The canvases that name a tensor, their pixels as r g b."""
    for one in found:
        raw = np.frombuffer(base64.b64decode(one["pixels"]), dtype=np.uint8)
        one["pixels"] = raw.reshape(one["rows"], one["columns"], 4)[..., :3]
    return [one for one in found if one["name"]]


def same_pixels(one: dict[str, Any], truth: Truth, *, most: float | None = None, dark: bool = False) -> None:
    """Raises AssertionError if a map or a strip is not coloured as its tensor is."""
    x = truth.matrix(one["name"], one["head"])
    if one["row"] is not None:
        x = x[one["row"]][None]
    full = most or (1.0 if one["name"].endswith("weights") and one["row"] is None else reach(x))
    mask = truth.mask(one["name"]) if one["masked"] and one["row"] is None else None
    wanted = colours(x, full, mask=mask, dark=dark)
    assert one["pixels"].shape == wanted.shape, (one["name"], one["pixels"].shape, wanted.shape)
    wrong = np.argwhere((one["pixels"] != wanted).any(-1))
    assert not len(wrong), (one["name"], one["head"], one["row"], wrong[:4].tolist())


def printed(value: float, digits: int = 3) -> str:
    """A number as the page prints it."""
    size = abs(value)
    if size and (size < 0.5 * 10**-digits or size >= 1e5):
        mantissa, exponent = f"{value:.1e}".split("e")
        text = f"{mantissa}e{int(exponent):+d}"
    else:
        text = str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
        text = text.removeprefix("-") if not float(text) and value == 0 else text
    return text.replace("-", "−")
