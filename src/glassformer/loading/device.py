"""The device and the number type of a model, from their names; refuses a device that this machine does not have."""

from __future__ import annotations

import torch

from glassformer.errors import ConfigError, choose, shown

AUTO = "auto"
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


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
    return choose("dtype", str(dtype).removeprefix("torch."), DTYPES)
