from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glassformer.config.values import Choice
from glassformer.errors import FileError
from glassformer.hub.foreign import Foreign
from glassformer.hub.rotary import read_rotary, write_rotary

LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 512}
SCALED = {"factor": 8.0, "low_frequency_factor": 1.0, "high_frequency_factor": 4.0, "original_max_len": 512}


def read(**table: Any) -> dict[str, Any]:
    found = read_rotary(Foreign(table, Path("config.json")), base=10000.0, max_len=64)
    assert found.kind == "rotary"
    return dict(found.options)


def test_as_it_is_written_today_and_as_it_was() -> None:
    assert read() == {"base": 10000.0}
    assert read(rope_theta=5e5) == {"base": 5e5}
    assert read(rope_parameters={"rope_theta": 5e5, "rope_type": "default"}) == {"base": 5e5}
    expected = {"base": 5e5, "scaling": "llama3", **SCALED}
    assert read(rope_parameters={"rope_theta": 5e5, "rope_type": "llama3", **LLAMA3}) == expected
    assert read(rope_theta=5e5, rope_scaling={"type": "llama3", **LLAMA3}) == expected
    assert read(rope_theta=5e5, rope_scaling={"type": "old", "rope_type": "llama3", **LLAMA3}) == expected


def test_every_scaling() -> None:
    assert read(rope_scaling={"type": "linear", "factor": 2}) == {"base": 10000.0, "scaling": "linear", "factor": 2.0}
    dynamic = {"type": "dynamic", "factor": 1.0, "original_max_position_embeddings": 9}
    found = {"base": 10000.0, "scaling": "dynamic", "factor": 1.0, "original_max_len": 64}
    assert read(rope_scaling=dynamic) == found  # `transformers` looks at no other length
    yarn = {"type": "yarn", "factor": 4.0, "beta_fast": 16, "mscale": 0.7, "truncate": False, "attention_factor": 0}
    found = {"base": 10000.0, "scaling": "yarn", "factor": 4.0, "original_max_len": 64}
    assert read(rope_scaling=yarn) == {**found, "beta_fast": 16.0, "truncate": False}
    assert read(rope_scaling={**yarn, "mscale_all_dim": 0.5})["mscale"] == 0.7


@pytest.mark.parametrize("kind", ["linear", "llama3", "yarn"])
def test_a_factor_of_one_slows_nothing(kind: str) -> None:
    assert read(rope_scaling={"type": kind, **LLAMA3, "factor": 1.0}) == {"base": 10000.0}


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (
            {"rope_scaling": {"type": "longrope"}},
            "type is longrope; only default, linear, dynamic, yarn, llama3 can be",
        ),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor is 0.5; only 1.0 can be built"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5; only 1.0 can be built here"),
        ({"rope_scaling": {"type": "linear"}}, "has no key 'factor'"),
        ({"rope_scaling": 7}, "rope_scaling is 7, which is not of the kind it should be"),
    ],
)
def test_what_cannot_be_turned_is_refused(table: dict[str, Any], what: str) -> None:
    with pytest.raises(FileError, match=what):
        read(**table)


@pytest.mark.parametrize(
    "options",
    [
        {"base": 5e5},
        {"base": 100.0, "scaling": "linear", "factor": 2.0},
        {"base": 100.0, "scaling": "llama3", **SCALED},
        {"base": 100.0, "scaling": "dynamic", "factor": 2.0, "original_max_len": 64},
        {"base": 100.0, "scaling": "yarn", "factor": 2.0, "original_max_len": 9, "beta_fast": 8.0, "truncate": False},
    ],
)
def test_writing_is_the_inverse_of_reading(options: dict[str, Any]) -> None:
    assert read(rope_parameters=write_rotary(Choice("rotary", options))) == options
