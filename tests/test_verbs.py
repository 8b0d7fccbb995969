from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch

import glassformer as gf
from foreign_models import gpt2
from glassformer.cli import classify, embed, evaluate, fill, generate, translate
from glassformer.errors import ConfigError
from glassformer.verbs import dtype_of

SHOWN = {"json", "lang", "debug", "checkpoint", "device", "dtype"}  # of the prompt alone, or of gf.load
OWN: dict[str, set[str]] = {  # at the prompt a list of texts, a pair, a file are said by options and arguments
    "classify": {"texts", "pair", "top"},
    "evaluate": {"teacher_forced", "hypotheses", "force"},
    "fill": {"texts", "text"},
    "generate": {"show_prompt", "messages"},
}
VERBS = {
    "translate": translate,
    "evaluate": evaluate,
    "generate": generate,
    "classify": classify,
    "fill": fill,
    "embed": embed,
}


@pytest.mark.parametrize("name", VERBS)
def test_python_and_the_prompt_have_the_same_options(name: str) -> None:
    verb, command = (inspect.signature(one).parameters for one in (getattr(gf, name), VERBS[name].command))
    apart = SHOWN | OWN.get(name, set())
    assert set(verb) - apart == set(command) - apart
    for key, one in verb.items():
        if one.kind is one.KEYWORD_ONLY and key != "stop" and key not in apart:
            assert one.default == command[key].default, key


def test_a_model_is_loaded_in_the_type_that_is_asked_for(tmp_path: Path) -> None:
    gpt2(tmp_path)
    for dtype in ("float64", "bfloat16", torch.float16, None):
        expected = torch.float32 if dtype is None else dtype_of(dtype)
        assert {x.dtype for x in gf.load(tmp_path, dtype=dtype).model.parameters()} == {expected}
    with pytest.raises(
        ConfigError, match="dtype='int4' is unknown; use one of: float64, float32, bfloat16, float16, int8, keep"
    ):
        gf.load(tmp_path, dtype="int4")
