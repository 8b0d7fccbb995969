from __future__ import annotations

import torch

from glassformer.lessons.stacks.probes import probe


def test_what_is_linear_is_found_and_noise_is_not() -> None:
    random = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 3, (400,), generator=random)
    noise = torch.randn(400, 8, generator=random)
    told = noise.clone()
    told[torch.arange(400), labels] += 6
    assert probe(told[:300], labels[:300], told[300:], labels[300:]) > 0.95
    assert probe(noise[:300], labels[:300], noise[300:], labels[300:]) < 0.6
