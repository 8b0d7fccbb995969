from __future__ import annotations

import copy
import math
import pickle

import pytest
from torch import nn

from glassformer.symbols.size import Dim, product_text, same, values

D_MODEL, N_HEADS, D_K, T = Dim("d_model", 512), Dim("n_heads", 8), Dim("d_k", 64), Dim("t", 5)


def test_it_is_a_number_in_every_respect() -> None:
    assert D_MODEL == 512 and hash(D_MODEL) == hash(512) and D_MODEL % 7 == 1
    assert max(D_MODEL, 3) is D_MODEL and (D_MODEL or 1) is D_MODEL and list(range(T)) == [0, 1, 2, 3, 4]
    assert math.sqrt(D_K) == 8.0 and D_K**-0.5 == 0.125 and D_K / 2 == 32.0
    assert repr(D_MODEL) == "512"


def test_sums_products_and_powers_keep_their_names() -> None:
    assert (N_HEADS * D_K).written == "n_heads×d_k"
    assert (2 * D_MODEL).written == "2×d_model"
    assert (Dim("max_len", 20) + Dim("offset", 2)).written == "max_len+offset"
    assert (Dim("classes", 10) + 1).written == "classes+1"
    assert (1 - T).written == "-t+1"
    assert (T**2).written == "t×t"
    assert (-T).written == "-t"


@pytest.mark.parametrize(
    ("quotient", "text", "value"),
    [
        (D_K // 2, "d_k÷2", 32),
        (D_MODEL // N_HEADS, "d_model÷n_heads", 64),
        (Dim("t", 5) // 2, "((t)÷2)", 2),
        ((Dim("context", 10) + Dim("stride", 3) - 4) // Dim("stride", 3), "((context-4)÷stride)+1", 3),
        ((Dim("size", 6) + 3) // 3, "size÷3+1", 3),
    ],
)
def test_a_quotient_that_does_not_come_out_is_a_symbol_of_its_own(quotient: Dim, text: str, value: int) -> None:
    assert (quotient.written, int(quotient)) == (text, value)


def test_what_cancels_is_gone() -> None:
    s, kv = Dim("s", 9), Dim("n_kv_heads", 2)
    assert same(s - T + T, s)
    assert same(kv * (N_HEADS // kv), N_HEADS)
    assert same(D_K // 2 * 2, D_K)
    assert type(T - T) is int and T - T == 0
    assert type(D_MODEL // D_MODEL) is int
    size, patch = Dim("size", 6), Dim("patch", 3)
    assert same((size - patch) // patch + 1, size // patch)
    assert not same(D_MODEL, N_HEADS * D_K)  # equal as numbers alone


def test_two_lengths_with_one_name_are_two_symbols() -> None:
    source, target = Dim("t", 7), Dim("t", 5)
    assert int(source - target) == 2
    assert not same(source, target)


def test_a_product_as_people_write_it() -> None:
    assert product_text([2, Dim("b", 3), 1, T, N_HEADS * D_K]) == "2×b×t×n_heads×d_k"
    assert product_text([Dim("max_len", 20) + 2, D_MODEL]) == "(max_len+2)×d_model"
    assert product_text([T, D_K // 2, 4]) == "t×(d_k÷2)×4"
    assert product_text([1]) == "1"
    assert values([T, N_HEADS * D_K]) == {"t": 5, "n_heads": 8, "d_k": 64}


def test_it_can_be_copied_sent_and_built_with() -> None:
    for copied in (copy.deepcopy(N_HEADS * D_K), pickle.loads(pickle.dumps(N_HEADS * D_K))):
        assert isinstance(copied, Dim) and copied.written == "n_heads×d_k"
    linear = nn.Linear(D_MODEL, N_HEADS * D_K, device="meta")
    assert isinstance(linear.out_features, Dim)


def test_what_is_no_number_is_refused_as_by_a_number() -> None:
    for operate in (lambda: D_K + "x", lambda: D_K * None, lambda: D_K - "x", lambda: D_K // "x"):
        with pytest.raises(TypeError):
            operate()  # type: ignore[no-untyped-call]
