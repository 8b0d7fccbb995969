"""A safetensors file written tensor by tensor: never more than one of them in memory, where the library needs all."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from glassformer.hub.header import WIDTHS
from glassformer.hub.weights import DTYPES

NAMES = {dtype: name for name, dtype in DTYPES.items()}
Form = tuple[torch.dtype, tuple[int, ...]]
METADATA = {"format": "pt"}  # `transformers` asks for it


def write_tensors(path: Path, forms: Mapping[str, Form], give: Callable[[str], Tensor]) -> None:
    """`forms`: type and shape of every tensor, known before the first is made; `give(name)` makes it.

    Wide types come first, so that every number lies at a multiple of its width.
    """
    order = sorted(forms, key=lambda name: (-forms[name][0].itemsize, name))
    table: dict[str, object] = {"__metadata__": METADATA}
    end = 0
    for name in order:
        dtype, shape = forms[name]
        begin, end = end, end + math.prod(shape) * WIDTHS[NAMES[dtype]]
        table[name] = {"dtype": NAMES[dtype], "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            x = give(name)
            assert (x.dtype, tuple(x.shape)) == forms[name], name
            if x.numel():
                file.write(x.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        file.flush()
        os.fsync(file.fileno())
