from __future__ import annotations

import pytest
import torch

from glassformer.decoding.rules import (
    GROUP,
    LENGTH_NORMS,
    STOP_RULES,
    SearchProgress,
    check_finite,
    comparable,
    gnmt,
    largest,
    largest_sums,
    log_softmax_,
    none,
    power,
)
from glassformer.errors import InputError
from glassformer.trace.record import record


def test_the_papers_norm_by_hand() -> None:
    assert gnmt(1, 0.6) == 1.0
    assert gnmt(7, 1.0) == 2.0
    assert gnmt(19, 0.5) == 2.0


def test_the_power_of_the_length_by_hand() -> None:
    assert power(4, 0.5) == 2.0
    assert power(5, 1.0) == 5.0
    assert power(10, -1.0) == pytest.approx(0.1)


@pytest.mark.parametrize("name", LENGTH_NORMS)
def test_no_alpha_is_no_norm(name: str) -> None:
    assert LENGTH_NORMS[name](17, 0.0) == 1.0
    assert none(17, 2.0) == 1.0


NEVER = float("-inf")


def standing(alpha: float = 1.0) -> SearchProgress:
    """Four sentences: one without enough finished hypotheses, three with, of which the running one gets better."""
    return SearchProgress(
        running=torch.tensor([-9.0, -9.0, -6.0, -2.0]),
        worst=torch.tensor([NEVER, -2.0, -2.0, -2.0]),
        norm=2.0,
        longest=torch.tensor([4.0, 4.0, 4.0, 4.0]),
        alpha=alpha,
    )


def test_three_rules_and_what_they_still_hope_for() -> None:
    done = {name: rule(standing()).tolist() for name, rule in STOP_RULES.items()}
    assert done == {
        "first": [False, True, True, True],
        "bound": [False, True, True, False],  # −9/2, −6/2 and −2/2 against −2
        "exhaustive": [False, True, False, False],  # −9/4, −6/4 and −2/4 against −2
    }


def test_a_norm_that_favours_short_ones_needs_no_longest_length() -> None:
    assert STOP_RULES["exhaustive"](standing(alpha=-1.0)).tolist() == STOP_RULES["bound"](standing()).tolist()


def test_equally_good_is_not_better() -> None:
    at = SearchProgress(torch.tensor([-4.0]), torch.tensor([-2.0]), 2.0, torch.tensor([2.0]), 1.0)
    assert [rule(at).tolist() for rule in STOP_RULES.values()] == [[True]] * 3


@pytest.mark.parametrize("v", [1, 7, GROUP, 1000, 1024, 8000])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_the_same_as_a_sort_of_the_whole_row(v: int, k: int) -> None:
    k = min(k, v)
    x = torch.randn(9, v, generator=torch.Generator().manual_seed(v))
    values, at = largest(x, k)
    expected = x.sort(1, descending=True)
    assert torch.equal(values, expected.values[:, :k])
    assert torch.equal(at, expected.indices[:, :k])


def test_the_largest_may_all_stand_in_one_group_or_behind_the_last() -> None:
    x = torch.zeros(1, 1003)
    groups = 1003 // GROUP
    x[0, torch.arange(4) * groups + 5] = torch.tensor([4.0, 3.0, 2.0, 1.0])
    assert largest(x, 4)[1].tolist() == [[5, groups + 5, 2 * groups + 5, 3 * groups + 5]]
    x[0, -1] = 9.0
    assert largest(x, 1)[1].tolist() == [[1002]]


def test_what_is_forbidden_is_never_among_them() -> None:
    x = torch.full((2, 2000), float("-inf"))
    x[0, 17], x[1, 1999] = 1.0, 2.0
    values, at = largest(x, 2)
    assert at[:, 0].tolist() == [17, 1999]
    assert values[:, 1].tolist() == [float("-inf")] * 2


def test_equal_numbers_give_as_many_different_places() -> None:
    values, at = largest(torch.ones(1, 4000), 5)
    assert values.tolist() == [[1.0] * 5]
    assert len(set(at[0].tolist())) == 5


INFINITE, NAN = float("inf"), float("nan")


def test_finite_numbers_pass() -> None:
    x = torch.tensor([[1.0, -1e30], [0.0, 1e30]])
    assert check_finite(x) is x and comparable(x) is x


@pytest.mark.parametrize("number", [NAN, INFINITE, -INFINITE])
def test_others_are_counted(number: float) -> None:
    x = torch.tensor([[1.0, number, number], [0.0, 1.0, 2.0]], dtype=torch.float16)
    with pytest.raises(InputError, match=r"not finite: 2 of 6 numbers are NaN or infinite.*type float16"):
        check_finite(x)


def test_a_logit_may_be_minus_infinity_but_not_all_of_them() -> None:
    x = torch.tensor([[1.0, -INFINITE], [-INFINITE, 2.0]])
    assert comparable(x) is x
    for row in ([NAN, 1.0], [INFINITE, 1.0], [-INFINITE, -INFINITE], [-INFINITE, NAN]):
        with pytest.raises(InputError, match="not finite"):
            comparable(torch.tensor([[1.0, 2.0], row]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log_probabilities_take_the_place_of_the_logits(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    logits = torch.randn(5, 8001, dtype=dtype)
    logits[1, 7] = float("-inf")
    expected = logits.log_softmax(1)
    found = log_softmax_(logits)
    assert torch.equal(found, expected) and found.data_ptr() == logits.data_ptr()


def test_an_observer_keeps_the_logits_it_was_shown() -> None:
    logits = torch.tensor([[1.0, 2.0]])
    with record(torch.nn.Linear(2, 2)):
        log_softmax_(logits)
    assert logits.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("v", [3, 40, 511, 512, 515, 8000])
@pytest.mark.parametrize("w", [1, 4])
@pytest.mark.parametrize("k", [1, 4, 8])
def test_the_largest_sums_of_all_beams(v: int, w: int, k: int) -> None:
    generator = torch.Generator().manual_seed(v + w + k)
    new, before = torch.randn(5, w, v, generator=generator), torch.randn(5, w, generator=generator)
    new[0, :, ::7] = float("-inf")
    before[1, 0] = 20.0  # all of them continue one beam
    new[2, -1, -1] = 50.0  # in the last column of the last beam
    found = largest_sums(new, before, k)
    sums = (new + before[:, :, None]).flatten(1)
    best = sums.topk(min(k, sums.shape[1]))
    assert torch.equal(found.sums, best.values)
    assert torch.equal(found.beams * v + found.columns, best.indices)
    assert torch.equal(found.new, new.flatten(1).gather(1, best.indices))
