from __future__ import annotations

import json

import torch

from glassformer.training.environment import DECIDES, environment, environment_differences

CPU = torch.device("cpu")


def test_it_holds_all_that_decides_on_the_bits() -> None:
    found = environment(CPU)
    assert set(DECIDES) <= set(found)
    assert found["torch"] == torch.__version__ and found["threads"] == torch.get_num_threads()
    assert json.loads(json.dumps(found)) == found


def test_a_difference_is_found() -> None:
    now = environment(CPU)
    assert environment_differences(now, now) == {}
    assert environment_differences({}, now) == {}
    assert environment_differences({**now, "torch": "1.0", "platform": "x", "threads": 99}, now) == {
        "torch": ("1.0", torch.__version__),
        "threads": (99, torch.get_num_threads()),
    }
