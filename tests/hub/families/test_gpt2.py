from __future__ import annotations

from pathlib import Path

import pytest
import torch

from families import check, check_inverse, check_taps, compare, step_by_step
from glassformer.errors import FileError
from glassformer.hub.effective_config import differing_keys
from glassformer.hub.families.gpt2 import GPT2
from glassformer.hub.foreign import Foreign
from glassformer.models.presets import PRESETS
from reference import VARIANTS, reference

NAMES = [name for name in VARIANTS if name.startswith("gpt2")]
WRITERS = [name for name in NAMES if not name.endswith(("classifier", "body"))]


@pytest.mark.many
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


@pytest.mark.parametrize(
    ("key", "value"),
    [("scale_attn_weights", False), ("scale_attn_by_inverse_layer_idx", True), ("add_cross_attention", True)],
)
def test_what_our_boxes_do_not_have_is_refused(key: str, value: bool) -> None:
    with pytest.raises(FileError, match=f"{key} is {value}; only {not value} can be built here"):
        GPT2.configure(Foreign({key: value}, Path("config.json")), "language_model")


def test_a_config_that_says_nothing_is_gpt2() -> None:
    assert not differing_keys(GPT2.configure(Foreign({}, Path("config.json")), "language_model"), PRESETS["gpt2"]())


@pytest.mark.parametrize(("name", "count"), [("gpt2", 16), ("gpt2 body", 15)])
def test_taps_are_the_outputs_of_their_modules(name: str, count: int) -> None:
    check_taps(*reference(name), count)
