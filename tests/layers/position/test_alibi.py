from __future__ import annotations

import pytest
import torch

from glassformer.errors import ConfigError
from glassformer.layers.position import AlibiPositions
from glassformer.layers.position.alibi import slopes


def test_slopes_of_eight_heads_as_published() -> None:
    assert slopes(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]


def test_slopes_of_sixteen_heads_as_published() -> None:
    assert slopes(16) == pytest.approx([2 ** (-(head + 1) / 2) for head in range(16)], rel=1e-12)


def test_slopes_of_twelve_heads_as_published() -> None:
    # Eight of the eight-head sequence, then every other one of the sixteen-head sequence.
    between = [0.7071067811865476, 0.35355339059327373, 0.17677669529663687, 0.08838834764831843]
    assert slopes(12) == pytest.approx([2.0**-n for n in range(1, 9)] + between, rel=1e-12)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 6, 7, 12, 20, 33])
def test_every_head_has_a_slope_of_its_own(n_heads: int) -> None:
    assert len(set(slopes(n_heads))) == n_heads
    assert all(0 < slope < 1 for slope in slopes(n_heads))


def test_the_bias_by_hand() -> None:
    bias = AlibiPositions(n_heads=2)(3, 3, torch.zeros(1))
    distance = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    torch.testing.assert_close(bias, torch.stack([-distance / 16, -distance / 256]))


def test_the_queries_are_the_last_positions() -> None:
    positions, like = AlibiPositions(n_heads=4), torch.zeros(1, dtype=torch.float64)
    whole = positions(7, 7, like)
    assert whole.dtype == torch.float64
    assert torch.equal(positions(2, 7, like), whole[:, 5:])


def test_no_heads_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^n_heads=0 is out of range; use 1 to 2147483647$"):
        AlibiPositions(n_heads=0)


def test_nothing_is_trained() -> None:
    assert AlibiPositions(n_heads=4).state_dict() == {}
