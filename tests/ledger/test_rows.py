from __future__ import annotations

from collections.abc import Mapping

import pytest

import glassformer as gf
from glassformer.formula import evaluate_formula
from glassformer.ledger import rows as row_module
from glassformer.ledger.rows import NamedTensor, ParameterRow, within

VALUES = {"d_model": 32, "d_ff": 48, "max_len": 400}


def held(name: str, *shape: str, buffer: bool = False) -> NamedTensor:
    return NamedTensor(name, shape, "×".join(shape), buffer)


def linear(name: str, d_in: str, d_out: str) -> tuple[NamedTensor, ...]:
    return NamedTensor(f"{name}.weight", (d_out, d_in), f"{d_in}×{d_out}"), held(f"{name}.bias", d_out)


def test_a_row_adds_inside_each_owner_first() -> None:
    tensors = (
        *linear("w_q", "d_model", "d_model"),
        *linear("w_k", "d_model", "d_model"),
        *linear("w_v", "d_model", "d_model"),
    )
    row = ParameterRow("qkv", "attention.qkv", tensors, VALUES)
    assert row.formula == "3×(d_model×d_model+d_model)"
    assert row.numbers == "3×(32×32+32)"
    assert (row.parameters, row.trained, row.buffers) == (3_168, 3_168, 0)
    assert row.symbols == ("d_model",)


def test_unequal_owners_are_not_merged() -> None:
    tensors = (*linear("w_1", "d_model", "d_ff"), *linear("w_2", "d_ff", "d_model"))
    row = ParameterRow("", "feed_forward.mlp", tensors, VALUES)
    assert row.formula == "d_model×d_ff+d_ff+d_ff×d_model+d_model"
    assert row.parameters == 32 * 48 + 48 + 48 * 32 + 32


def test_a_row_of_buffers_shows_their_formula_and_trains_nothing() -> None:
    row = ParameterRow("", "positions.sinusoidal", (held("table", "max_len", "d_model", buffer=True),), VALUES)
    assert (row.formula, row.numbers) == ("max_len×d_model", "400×32")
    assert (row.parameters, row.trained, row.buffers) == (0, 0, 12_800)


def test_buffers_beside_parameters_are_counted_apart() -> None:
    row = ParameterRow("", "x", (held("weight", "d_model"), held("table", "max_len", buffer=True)), VALUES)
    assert (row.formula, row.parameters, row.buffers) == ("d_model", 32, 400)


def test_an_empty_row_is_nothing() -> None:
    row = ParameterRow("head", "head.language_model", (), VALUES, tied="embedding")
    assert (row.formula, row.parameters, row.buffers, row.symbols, row.shapes()) == ("0", 0, 0, (), {})


def test_shapes_are_those_that_torch_stores() -> None:
    row = ParameterRow("", "x", linear("w_1", "d_model", "d_ff"), VALUES)
    assert row.shapes() == {"w_1.weight": (48, 32), "w_1.bias": (48,)}


def test_a_missing_number_is_an_error() -> None:
    with pytest.raises(KeyError, match="d_v"):
        _ = ParameterRow("", "x", (held("weight", "d_v"),), VALUES).parameters


def test_the_box_around_puts_its_name_in_front() -> None:
    row = ParameterRow("", "x", (held("weight", "d_model"),), VALUES)
    named = ParameterRow("qkv", "x", (held("w_q.weight", "d_model"),), VALUES)
    outer, inner = within("blocks.0", within("self_attention", (row, named)))
    assert (outer.name, outer.tensors[0].name) == ("blocks.0.self_attention", "blocks.0.self_attention.weight")
    assert (inner.name, inner.tensors[0].name) == ("blocks.0.self_attention.qkv", "blocks.0.self_attention.w_q.weight")
    assert inner.parameters == named.parameters


def test_what_equal_layers_hold_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack of a thousand layers asks for as many numbers as one of ten, and they are the same."""
    asked: list[str] = []

    def counted(formula: str, values: Mapping[str, int]) -> int:
        asked.append(formula)
        return evaluate_formula(formula, values)

    monkeypatch.setattr(row_module, "evaluate_formula", counted)
    calls, totals = {}, {}
    for layers in (10, 1000):
        asked.clear()
        ledger = gf.count("gpt2", layers=layers)
        totals[layers] = ledger.part("decoder.blocks").parameters
        calls[layers] = len(asked)
    assert calls[10] == calls[1000] > 0
    assert totals[1000] == 100 * totals[10]
