"""Copies of a reference folder with something changed in them: a key, a tensor, a name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from reference import reference

Tensors = dict[str, Tensor]


def changed(
    name: str,
    folder: Path,
    change: Callable[[Tensors], Tensors] | None = None,
    *,
    without: tuple[str, ...] = (),
    **keys: Any,
) -> Path:
    """A copy of the reference `name` in `folder`; `change` gets its tensors, `keys` go into config.json."""
    shutil.copytree(reference(name)[1], folder, dirs_exist_ok=True)
    table = json.loads((folder / "config.json").read_text()) | keys
    (folder / "config.json").write_text(json.dumps({key: value for key, value in table.items() if key not in without}))
    if change is not None:
        tensors = change(load_file(folder / "model.safetensors"))
        save_file({key: x.clone().contiguous() for key, x in tensors.items()}, folder / "model.safetensors")
    return folder
