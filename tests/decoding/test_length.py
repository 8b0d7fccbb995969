from __future__ import annotations

import pytest

from glassformer.decoding.length import LENGTH_NORMS, gnmt, none, power


def test_the_papers_norm_by_hand() -> None:
    assert gnmt(1, 0.6) == 1.0
    assert gnmt(7, 1.0) == 2.0
    assert gnmt(19, 0.5) == 2.0


def test_the_power_of_the_length_by_hand() -> None:
    assert power(4, 0.5) == 2.0
    assert power(5, 1.0) == 5.0
    assert power(10, -1.0) == pytest.approx(0.1)


@pytest.mark.parametrize("name", LENGTH_NORMS)
def test_no_alpha_is_no_norm(name: str) -> None:
    assert LENGTH_NORMS[name](17, 0.0) == 1.0
    assert none(17, 2.0) == 1.0
