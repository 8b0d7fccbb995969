from __future__ import annotations

import torch

from glassformer.decoding.stop import STOP_RULES, Standing

NEVER = float("-inf")


def standing(alpha: float = 1.0) -> Standing:
    """Four sentences: one without enough finished hypotheses, three with, of which the running one gets better."""
    return Standing(
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
    at = Standing(torch.tensor([-4.0]), torch.tensor([-2.0]), 2.0, torch.tensor([2.0]), 1.0)
    assert [rule(at).tolist() for rule in STOP_RULES.values()] == [[True]] * 3
