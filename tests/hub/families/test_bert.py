from __future__ import annotations

import pytest

from families import check, check_inverse
from reference import VARIANTS, reference

NAMES = [name for name in VARIANTS if "bert" in name]


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_those_of_the_reference(name: str) -> None:
    check(name, *reference(name))


@pytest.mark.parametrize("name", NAMES)
def test_describing_is_the_inverse_of_configuring(name: str) -> None:
    check_inverse(name, reference(name)[1])
