from __future__ import annotations

import torch

from glassformer.lessons.norm.layer_norm_experiment import TOKENS, _by_token
from glassformer.lessons.record import RECORDED, LessonResult


def test_tokens_go_from_the_narrowest_to_the_widest() -> None:
    x = torch.randn(50, 16, generator=torch.Generator().manual_seed(0)) * torch.linspace(5, 1, 50)[:, None]
    widths = [one["deviation"] for one in _by_token(x, x)["before"]]
    deviations = x.std(-1, unbiased=False)
    assert len(widths) == TOKENS and widths == sorted(widths)
    assert (widths[0], widths[-1]) == (float(deviations.min()), float(deviations.max()))


def test_before_is_not_after() -> None:
    found = LessonResult.read(RECORDED / "layer_norm.json").data["by_token"]
    before, after = ([one["deviation"] for one in found[name]] for name in ("before", "plain"))
    assert max(before) > 1.5 * min(before) and max(after) < 1.01 * min(after)
