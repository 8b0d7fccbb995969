"""A folder of images for tests: two classes of two images each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def folder(root: Path, size: int = 4) -> Path:
    """Two classes of two images, one file deeper, one hidden."""
    noise = np.random.default_rng(0)
    for name in ("cats/1.png", "cats/more/2.png", "dogs/1.png", "dogs/2.bmp"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(noise.integers(0, 256, (size, size, 3), dtype=np.uint8)).save(path)
    (root / "cats" / ".DS_Store").write_bytes(b"nothing")
    (root / ".hidden").mkdir(exist_ok=True)
    return root
