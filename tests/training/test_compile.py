from __future__ import annotations

import pytest
import torch

from glassformer.training.compile import compile_parts
from small_run import examples, run_config, small_model, translation


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
@pytest.mark.parametrize("chunk", [0, 6])
def test_compiled_is_the_same_and_has_the_same_names(chunk: int) -> None:
    config = run_config({"dropout": 0.0}, chunk=chunk)
    task, store = translation(config), examples(12)
    batch = task.collate([store[i] for i in range(12)])
    plain, compiled = small_model(config), small_model(config)
    names = list(compiled.state_dict())
    fast = compile_parts(compiled, task, backend="aot_eager")  # all but the code that is generated
    assert list(compiled.state_dict()) == names
    for model, one in ((plain, task), (compiled, fast)):
        (one.loss(model, batch).total / batch.count).backward()
    for (name, a), b in zip(plain.named_parameters(), compiled.parameters(), strict=True):
        assert a.grad is not None and b.grad is not None
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-3, atol=1e-6, msg=name)
