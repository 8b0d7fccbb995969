from __future__ import annotations

import pytest
import torch
from torch import nn

from glassformer.comparison.inputs import SharedInput
from glassformer.comparison.walk import Walk, placed
from glassformer.decoding.step import evaluating


def test_a_tensor_is_let_go_as_soon_as_it_was_met() -> None:
    walk = Walk(SharedInput(torch.zeros(1, 2)))
    walk.keep("x", torch.ones(1, 2, 3))
    walk.keep("y", torch.ones(1, 2))
    walk.meet("y", torch.zeros(1, 2))
    assert list(walk.tensors) == ["x"] and list(walk.shapes) == ["x", "y"]
    walk.meet("x", torch.ones(1, 2, 3))
    assert not walk.tensors
    assert [each.tap for each in walk.ordered()] == ["x", "y"]  # the order of A, not of B
    assert list(walk.others) == ["y", "x"]


def test_what_only_one_has_or_in_another_shape_is_not_compared() -> None:
    walk = Walk(SharedInput(torch.zeros(1, 2)))
    walk.keep("x", torch.ones(1, 2, 3))
    walk.meet("x", torch.ones(1, 2, 4))
    walk.meet("z", torch.ones(1))
    assert walk.ordered() == () and walk.others == {"x": (1, 2, 4), "z": (1,)}


def test_ids_stay_ids() -> None:
    device = torch.device("cpu")
    assert placed(None, device, torch.float64) is None
    ids, numbers = placed(torch.tensor([1]), device, torch.float64), placed(torch.ones(1), device, torch.float64)
    assert ids is not None and numbers is not None
    assert (ids.dtype, numbers.dtype) == (torch.int64, torch.float64)


def test_every_module_is_left_as_it_was() -> None:
    model = nn.Sequential(nn.Dropout(), nn.Dropout().eval())

    def inside() -> None:
        with evaluating(model):
            assert not any(module.training for module in model.modules())
            raise KeyError

    with pytest.raises(KeyError):
        inside()
    assert [module.training for module in model] == [True, False]
