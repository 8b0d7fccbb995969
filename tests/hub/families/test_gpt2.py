from __future__ import annotations

import pytest
import torch

from families import check, check_inverse, compare, step_by_step
from reference import VARIANTS, reference

NAMES = [name for name in VARIANTS if name.startswith("gpt2")]
WRITERS = [name for name in NAMES if not name.endswith(("classifier", "body"))]


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_those_of_the_reference(name: str) -> None:
    check(name, *reference(name))


@pytest.mark.parametrize("name", NAMES)
def test_describing_is_the_inverse_of_configuring(name: str) -> None:
    check_inverse(name, reference(name)[1])


@pytest.mark.parametrize("name", NAMES)
def test_padding_in_front_moves_nothing(name: str) -> None:
    model, folder = reference(name)
    assert compare(model, folder, torch.float64, left=True, lift=True).absolute <= 1e-10


@pytest.mark.parametrize("name", WRITERS)
def test_with_a_cache_step_by_step(name: str) -> None:
    assert step_by_step(*reference(name)).absolute <= 1e-10
