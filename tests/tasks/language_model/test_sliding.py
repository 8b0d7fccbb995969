from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import glassformer as gf
from glassformer.tasks.language_model.sliding import Foreseen, cut, foresee

MODEL = {
    "family": "decoder",
    "vocab_size": 20,
    "max_len": 64,
    "d_model": 16,
    "n_heads": 2,
    "d_ff": 32,
    "n_decoder_layers": 2,
    "position": "rotary",
    "head": "language_model",
}


@given(st.integers(2, 60), st.integers(1, 20), st.data())
def test_every_token_is_foreseen_once_from_enough(length: int, context: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, context))
    row = np.arange(length, dtype=np.int32)
    foreseen = []
    for window, given_tokens in cut(row, context, stride):
        assert 2 <= len(window) <= context + 1 and given_tokens >= 1
        for place in range(given_tokens, len(window)):
            foreseen.append(int(window[place]))
            assert place >= min(int(window[place]), context - stride)
    assert foreseen == list(range(1, length))


def test_a_text_within_the_context_is_one_pass() -> None:
    model = gf.build(MODEL).eval().double()
    rows = [np.random.default_rng(i).integers(0, 20, 5 + i).astype(np.int32) for i in range(6)]
    found = foresee(model, rows, 16)
    nats = right = 0.0
    for row in rows:
        tokens = torch.from_numpy(row.astype(np.int64))[None]
        logits = model(tokens[:, :-1])
        nats += torch.nn.functional.cross_entropy(logits[0], tokens[0, 1:], reduction="sum").item()
        right += int((logits[0].argmax(-1) == tokens[0, 1:]).sum())
    assert found.nats == pytest.approx(nats, rel=1e-5)
    assert (found.tokens, found.right) == (sum(len(row) - 1 for row in rows), right)


def test_windows_side_by_side_or_half_over_each_other() -> None:
    model = gf.build(MODEL).eval()
    row = np.random.default_rng(0).integers(0, 20, 101).astype(np.int32)
    seen: list[tuple[int, int]] = []
    half = foresee(model, [row], 10, progress=lambda done, total: seen.append((done, total)))
    apart = foresee(model, [row], 10, 10)
    assert half.tokens == apart.tokens == 100 and half.nats != apart.nats
    assert seen[-1] == (19, 19)
    parts = [foresee(model, [row[i : i + 11]], 10) for i in range(0, 100, 10)]
    assert apart.nats == pytest.approx(sum(part.nats for part in parts), rel=1e-5)


def test_sums_add_up() -> None:
    assert Foreseen(1.0, 2, 1) + Foreseen(0.5, 1, 0) == Foreseen(1.5, 3, 1)


def test_a_uniform_model_is_as_surprised_as_chance() -> None:
    model = gf.build(MODEL).eval()
    torch.nn.init.zeros_(model.head.weight)
    row = np.random.default_rng(0).integers(0, 20, 41).astype(np.int32)
    assert foresee(model, [row], 8).nats == pytest.approx(40 * math.log(20), rel=1e-5)
