"""The device and the number type of a model, from their names; refuses a device that this machine does not have."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F

from glassformer.errors import ConfigError, choose, shown

AUTO = "auto"
KEEP: Literal["keep"] = "keep"
LoadedType = torch.dtype | Literal["keep"]  # torch.int8: the large matrices in 8 bits, all else in float32
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
LOADED: dict[str, LoadedType] = {**DTYPES, "int8": torch.int8, KEEP: KEEP}
SHORT = {"bf16": "bfloat16", "fp16": "float16"}  # as train.precision has them


def choose_device(device: str | torch.device, *, meta: bool = False) -> torch.device:
    """`auto`: the accelerator if there is one. torch tells whether a device exists only when a tensor is put there.

    `meta`, a device without memory, is for a model that is not run.
    """
    if isinstance(device, str) and device == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.empty(0, device=device).device
    except (AssertionError, ImportError, RuntimeError, TypeError, ValueError):  # each backend has its own
        found = None
    if found is None or (found.type == "meta" and not meta):
        accelerator = torch.accelerator.current_accelerator(check_available=True)
        count = 0 if accelerator is None else torch.accelerator.device_count()
        others = [f"{accelerator.type}:{number}" for number in range(count)] if accelerator else []
        known = [AUTO, "cpu", *(["meta"] if meta else []), *others]
        value = str(device) if isinstance(device, str | torch.device) else shown(device)
        raise ConfigError("unknown_device", value=value, known=", ".join(known))
    return found


def choose_dtype(dtype: str | torch.dtype) -> torch.dtype:
    """What a model can be built in."""
    return choose("dtype", _name(dtype), DTYPES)


def choose_loaded_dtype(dtype: str | torch.dtype) -> LoadedType:
    """What a stored model can be loaded in: also as it is stored, and in int8."""
    name = _name(dtype)
    return choose("dtype", SHORT.get(name, name), LOADED)


def check_computes(dtype: torch.dtype, device: torch.device) -> None:
    """Raises if a device cannot compute in this type, and names those in which it can."""
    if not computes(dtype, device):
        known = ", ".join(name for name, one in LOADED.items() if one == KEEP or computes(one, device))
        raise ConfigError("dtype_of_device", device=str(device), dtype=_name(dtype), known=known)


def computes(dtype: torch.dtype, device: torch.device) -> bool:
    """Whether a device computes in this type; as with devices, torch tells only when it is tried.

    Cards before 2020 have no bfloat16 of their own: torch imitates it, slower than float32.
    """
    if dtype in (torch.float32, torch.int8):  # products with int8 weights are at home wherever float32 is
        return True
    if device.type == "cuda" and dtype == torch.bfloat16:
        with torch.cuda.device(device):
            return torch.cuda.is_bf16_supported(including_emulation=False)
    try:
        x = torch.ones(2, 2, dtype=dtype, device=device)
        F.layer_norm(F.linear(x, x), (2,)).softmax(-1)
    except (RuntimeError, TypeError):  # each backend has its own
        return False
    return True


def _name(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")
