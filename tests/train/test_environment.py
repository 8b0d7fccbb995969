from __future__ import annotations

import json

import pytest
import torch

from glassformer.errors import ConfigError
from glassformer.recipe import TrainConfig
from glassformer.train.environment import DECIDES, choose_device, differences, environment

CPU = torch.device("cpu")


def test_it_holds_all_that_decides_on_the_bits() -> None:
    found = environment(CPU)
    assert set(DECIDES) <= set(found)
    assert found["torch"] == torch.__version__ and found["threads"] == torch.get_num_threads()
    assert json.loads(json.dumps(found)) == found


def test_a_difference_is_found() -> None:
    now = environment(CPU)
    assert differences(now, now) == {}
    assert differences({}, now) == {}
    assert differences({**now, "torch": "1.0", "platform": "x", "threads": 99}, now) == {
        "torch": ("1.0", torch.__version__),
        "threads": (99, torch.get_num_threads()),
    }


def test_the_device_of_a_recipe() -> None:
    assert choose_device(TrainConfig(device="cpu")) == CPU
    assert choose_device(TrainConfig()).type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "tpu", ""])
def test_a_device_that_is_not_there(name: str) -> None:
    with pytest.raises(ConfigError, match=f"device='{name}' is no device of this machine; use one of: auto, cpu"):
        choose_device(TrainConfig(device=name))
