"""The best next words: the equation as written, and the kernel's form (an accelerator, or TRITON_INTERPRET=1)."""

from __future__ import annotations

import copy
import os
from typing import Any

import pytest
import torch

from decoding import ENDS, FAMILIES, lively, sources
from glassformer.decoding import Beams, Limits, beam_search, captured, greedy, next_words, stream_tokens, walking
from glassformer.decoding.limits import FREE
from glassformer.decoding.next_words import NextWords, certain
from glassformer.errors import InputError
from glassformer.kernels import runs_on, usable
from glassformer.layers.attention import kernel as attention

NEVER = float("-inf")
CPU = torch.device("cpu")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
GPU = pytest.mark.skipif(DEVICE == "cpu", reason="needs an accelerator")
TRITON = pytest.mark.skipif(
    DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1", reason="needs an accelerator"
)


def words(most: int = 3, **limits: Any) -> NextWords:
    return NextWords(Limits(**{"eos": 2, **limits}).checked(50, torch.device(DEVICE)), most)


def test_the_best_words_by_hand() -> None:
    checked = Limits(eos=2, forbidden=(0,)).checked(4, CPU)
    logits = torch.tensor([[8.0, 1.0, 2.0, 4.0]]).log()
    logs, tokens = NextWords(checked, 2).best(logits, 0, None)
    assert tokens.tolist() == [[3, 2]]  # 0 is forbidden
    torch.testing.assert_close(logs.exp(), torch.tensor([[4 / 15, 2 / 15]]))  # and counts all the same


def test_no_more_words_than_there_are() -> None:
    checked = Limits(eos=None).checked(4, CPU)
    assert NextWords(checked, 9).best(torch.zeros(2, 4), 0, None)[1].shape == (2, 4)


def test_a_row_that_must_say_a_token_says_it_with_certainty() -> None:
    logs = torch.tensor([[-1.0, -2.0], [-3.0, -4.0]])
    assert certain(logs, torch.tensor([FREE, 1])).tolist() == [[-1.0, -2.0], [NEVER, 0.0]]


def test_which_words_are_forbidden() -> None:
    def forbidden(before: int, **limits: Any) -> list[int] | None:
        found = Limits(**limits).checked(5, CPU).forbids(5, before, CPU)
        return None if found is None else found.nonzero()[:, 0].tolist()

    assert forbidden(0, eos=2) is None
    assert forbidden(0, eos=2, forbidden=(0, 4)) == [0, 4]
    assert forbidden(0, eos=(2, 3), min_len=1, forbidden=(0,)) == [0, 2, 3]
    assert forbidden(1, eos=(2, 3), min_len=1, forbidden=(0,)) == [0]
    assert forbidden(1, eos=(2, 3), min_len=1) is None


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_what_is_not_finite_is_refused(wrong: float) -> None:
    logits = torch.zeros(2, 50, device=DEVICE)
    logits[1, 3] = wrong
    found = words()
    with pytest.raises(InputError, match="not finite"):
        found.best(logits, 0, None)
        found.settle(logits)  # an accelerator is asked later


@pytest.mark.gpu
@TRITON
@pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning")  # the interpreter's numpy
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("limits", [{}, {"forbidden": (0, 7)}, {"forbidden": (0,), "min_len": 2}])
def test_both_forms_find_the_same(limits: dict[str, Any], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    numbers = torch.stack([torch.randperm(50) for _ in range(6)]) / 8 - 3  # no two are the same, in any type
    logits = numbers.to(DEVICE, dtype)
    for before in (0, 2):
        monkeypatch.setattr(next_words, "usable", lambda x: False)
        expected = words(8, **limits).best(logits.clone(), before, None)
        monkeypatch.setattr(next_words, "usable", lambda x: True)
        found = words(8, **limits).best(logits, before, None)
        torch.testing.assert_close(found[0], expected[0], rtol=1e-5, atol=1e-5)
        assert torch.equal(found[1], expected[1])
    logits[2, 5] = float("nan")
    found_wrong = words(8, **limits)
    with pytest.raises(InputError, match="not finite"):
        found_wrong.best(logits, 0, None)
        found_wrong.settle(logits)


@pytest.mark.gpu
@GPU
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("options", [{}, {"n_kv_heads": 1}, {"d_k": 24}], ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_search_with_kernels_finds_what_one_without_finds(
    family: str, options: dict[str, Any], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Token for token in float32. In bf16 other sums choose other words where two are almost as good, and all that
    follows differs: of the twelve sentences, a beam search finds those of float64 in 9 to 11."""
    model = copy.deepcopy(lively(family, **options)).to("cuda", dtype)
    source, mask = (x.cuda() for x in sources())
    limits, beams = Limits(max_len=8, min_len=2, **ENDS), Beams(width=4)
    choices = ((next_words, "usable", usable), (walking, "usable", usable), (attention, "runs_on", runs_on))
    found = {}
    for own in (False, True):
        monkeypatch.setattr(captured, "_OF_MODEL", type(captured._OF_MODEL)())
        for module, name, choice in choices:
            monkeypatch.setattr(module, name, choice if own else lambda x: False)
        for _ in range(3):  # computed, recorded, replayed
            found[own] = beam_search(model, source, mask, limits=limits, beams=beams)
            found[own] += greedy(model, source, mask, limits=limits)
        assert {slots.sizes.beams for slots in captured.slots_of(model).slots.values() if slots.graph} == {1, 4}
    pairs = [(one.tokens, other.tokens) for (one,), (other,) in zip(found[False], found[True], strict=True)]
    alike = sum(one == other for one, other in pairs)
    assert alike == len(pairs) if dtype == torch.float32 else alike >= len(pairs) / 2
    if dtype == torch.float32:
        scores = [[best[0].score for best in found[own]] for own in (False, True)]
        assert scores[1] == pytest.approx(scores[0], rel=1e-4)


@pytest.mark.gpu
@GPU
@pytest.mark.parametrize("most", [1, 2, 8])
def test_what_is_not_finite_is_noticed_before_a_token_is_given(most: int) -> None:
    model, (source, mask) = copy.deepcopy(lively("decoder")).to("cuda", torch.float32), sources()
    model.decoder.final_norm.weight.data.fill_(float("nan"))
    with pytest.raises(InputError, match="not finite"):
        next(stream_tokens(model, source.cuda(), mask.cuda(), limits=Limits(max_len=most, **ENDS)))
    for search in (greedy, beam_search):
        with pytest.raises(InputError, match="not finite"):
            search(model, source.cuda(), mask.cuda(), limits=Limits(max_len=most, **ENDS))
