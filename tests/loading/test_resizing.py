from __future__ import annotations

import pytest
import torch

from glassformer.config.values import Choice
from glassformer.errors import ConfigError
from glassformer.loading import resize
from small_models import small


def test_the_model_and_its_data_at_another_size() -> None:
    loaded = small("image_classification", position=Choice("learned"), max_len=5)
    larger = resize(loaded, 16)
    assert larger.config.model.input.options["size"] == 16 and larger.config.model.max_len == 17
    assert larger.config.data.source.options["resize"] is True
    assert larger.model(torch.rand(2, 3, 16, 16)).shape == (2, 3) and not larger.model.training
    assert loaded.config.model.max_len == 5


def test_only_learned_positions() -> None:
    with pytest.raises(ConfigError, match="only learned positions can be taken to another size of image"):
        resize(small("image_classification"), 16)
