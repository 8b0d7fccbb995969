from __future__ import annotations

import torch

from glassformer.layers.head import NoHead


def test_no_head_gives_the_stream() -> None:
    x = torch.randn(2, 3, 4)
    assert NoHead()(x) is x
