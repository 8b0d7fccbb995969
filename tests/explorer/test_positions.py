from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import glassformer as gf
from explorer_client import INPUTS, client, foreign, tiny_run
from glassformer.errors import ConfigError, InputError
from glassformer.explorer.inputs import read
from glassformer.explorer.positions import KINDS, with_position
from glassformer.layers.position import AlibiPositions
from glassformer.loading import Loaded

ADDED = {"*.positions.encoding": gf.zero()}


def output(loaded: Loaded, given: dict[str, Any], edits: Any = None) -> Tensor:
    one = read(loaded, given)
    with torch.no_grad(), gf.edit(loaded.model, edits or {}):
        return one.run(loaded.model, one.inputs)


def biased(heads: int) -> Any:
    """Adds to scores what ALiBi adds to them."""
    positions = AlibiPositions(n_heads=heads)
    return lambda x: x + positions(x.shape[-2], x.shape[-1], x)


@pytest.mark.parametrize("kind", ["classification", "translation"])
def test_none_and_alibi_are_what_an_edit_of_the_same_pass_gives(kind: str) -> None:
    loaded, given = gf.load(tiny_run(kind)), INPUTS[kind]
    if kind == "translation":
        given = given | {"target": "we often"}  # both read the same
    plain, without = output(loaded, given), output(loaded, given, ADDED)
    assert not torch.allclose(plain, without, atol=1e-3)
    assert torch.allclose(output(with_position(loaded, "none"), given), without, atol=1e-5)
    far = ADDED | {"*.self_attention.scores": biased(loaded.config.model.n_heads)}
    assert torch.allclose(output(with_position(loaded, "alibi"), given), output(loaded, given, far), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_is_that_of_the_model_and_only_the_positions_differ(kind: str) -> None:
    for loaded in (gf.load(tiny_run("image_classification")), gf.load(foreign("llama")), gf.load(foreign("gpt2"))):
        other, own = with_position(loaded, kind), loaded.model.state_dict()
        assert other.config.model.position.kind == kind and other.tokenizers is loaded.tokenizers
        weights = other.model.state_dict()
        assert all(torch.equal(x, own[name]) for name, x in weights.items())
        assert {name for name in own if name not in weights} <= {name for name in own if "positions" in name}
        assert with_position(loaded, kind) is other  # made once


def test_its_own_kind_is_the_model_itself() -> None:
    loaded = gf.load(tiny_run("classification"))
    assert with_position(loaded, None) is loaded
    assert with_position(loaded, loaded.config.model.position.kind) is loaded


def test_kinds_with_trained_numbers_and_packed_weights_are_refused() -> None:
    loaded = gf.load(tiny_run("classification"))
    for kind in ("learned", "relative", "nothing"):
        with pytest.raises(ConfigError, match="position"):
            with_position(loaded, kind)
    with pytest.raises(InputError, match="not quantised"):
        with_position(gf.load(tiny_run("translation"), dtype="int8"), "alibi")


def test_a_comparison_says_both_kinds() -> None:
    run, given = tiny_run("classification"), INPUTS["classification"]
    asked = client(run)
    a, b = {"model": run.name, "input": given}, {"model": run.name, "input": given, "position": "rotary"}
    content = asked.post("/api/compare", json={"a": a, "b": b}).content.decode("utf-8", "ignore")
    assert content.count('\\"trained_position\\": \\"sinusoidal\\"') == 2
    assert content.count('\\"position\\": \\"sinusoidal\\"') == content.count('\\"position\\": \\"rotary\\"') == 1
    refused = asked.post("/api/compare?lang=en", json={"a": a, "b": b | {"position": "learned"}})
    assert refused.status_code == 422 and "position" in refused.json()["error"]
