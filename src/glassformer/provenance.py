"""Where a number comes from: commit, versions, machine. Every recorded result carries them."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def commit() -> str:
    """The commit of the checkout that this runs from, or GLASSFORMER_COMMIT; "unknown" outside a checkout."""
    given = os.environ.get("GLASSFORMER_COMMIT", "")
    if given:
        return given
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return found.stdout.strip() or "unknown"


def versions() -> dict[str, str]:
    """The versions of Python and torch."""
    import torch

    return {"python": platform.python_version(), "torch": torch.__version__}


def machine() -> dict[str, Any]:
    """Cores, and the accelerator's name: "" if there is none."""
    import torch

    card = torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""
    return {"cores": os.cpu_count() or 1, "accelerator": card}
