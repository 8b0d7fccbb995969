from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from glassformer.errors import InputError
from glassformer.symbols.run import SymbolicRun
from glassformer.symbols.size import Dim
from glassformer.symbols.tensor import Symbolic

# What torch makes of the same call on real tensors: its shape, and whether it is a view.
CALLS: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: x.transpose(1, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "unflatten": lambda x: x.unflatten(-1, (2, 3)),
    "flatten": lambda x: x.flatten(1),
    "flatten swapped": lambda x: x.transpose(1, 2).flatten(1),
    "flatten heads": lambda x: x.unflatten(-1, (2, 3)).transpose(1, 2).transpose(1, 2).flatten(2),
    "contiguous": lambda x: x.contiguous(),
    "contiguous swapped": lambda x: x.transpose(1, 2).contiguous(),
    "expand": lambda x: x[None].expand(4, -1, -1, -1),
    "repeat": lambda x: x.repeat(2, 1, 1, 3),
    "repeat_interleave": lambda x: x.repeat_interleave(3, dim=1),
    "chunk": lambda x: x.chunk(2, -1)[0],
    "cat": lambda x: torch.cat([x, x], 1),
    "stack": lambda x: torch.stack([x, x], -1),
    "row": lambda x: x[:, 0],
    "last": lambda x: x[..., 1],
    "every other": lambda x: x[..., 1::2],
    "first": lambda x: x[:2],
    "from": lambda x: x[:, 3:],
    "new axes": lambda x: x[:, None, :, None],
    "reshape": lambda x: x.reshape(x.shape),
    "pieces": lambda x: x.unfold(-1, 3, 3),
    "pieces that overlap": lambda x: x.unfold(-1, 3, 1),
    "padded": lambda x: F.pad(x, (0, 2), mode="replicate"),
    "patches": lambda x: F.unfold(x[:, None], 3, stride=3) if x.shape[1] % 3 == 0 else x,
    "patches that overlap": lambda x: F.unfold(x[:, None, :4], 4, padding=1, stride=2),
    "same type": lambda x: x.float(),
    "other type": lambda x: x.double(),
}


@pytest.mark.parametrize("name", CALLS)
def test_shapes_and_copies_are_those_of_torch(name: str) -> None:
    real = torch.zeros(4, 5, 6)
    run = SymbolicRun()
    x = run.new((Dim("b", 4), Dim("t", 5), Dim("d_model", 6)))
    with run:
        mine = CALLS[name](x)
    theirs = CALLS[name](real)
    assert tuple(map(int, mine.shape)) == tuple(theirs.shape)
    assert isinstance(mine, Symbolic)
    same_memory = theirs.untyped_storage().data_ptr() == real.untyped_storage().data_ptr()
    assert (mine.storage_ is x.storage_) == same_memory
    if theirs.dim() > 1 and not name.startswith(("pieces", "expand", "new axes")):
        assert mine.is_straight == (theirs.is_contiguous() and (not same_memory or theirs.numel() == real.numel()))


def test_names_survive() -> None:
    run = SymbolicRun()
    x = run.new((Dim("b", 4), Dim("t", 5), Dim("d_model", 6)))
    with run:
        heads = x.unflatten(-1, (Dim("n_heads", 2), Dim("d_k", 3))).transpose(1, 2)
        together = heads.transpose(1, 2).flatten(2)
        table = run.new((Dim("max_len", 20) + Dim("offset", 2), Dim("d_model", 6)))[Dim("offset", 2) :]
    assert repr(heads) == "Symbolic(b×n_heads×t×d_k, torch.float32)"
    assert repr(together) == "Symbolic(b×t×n_heads×d_k, torch.float32)"
    assert repr(table) == "Symbolic(max_len×d_model, torch.float32)"


def test_what_has_no_rule_yet_is_refused() -> None:
    run = SymbolicRun()
    x = run.new((Dim("b", 4), Dim("t", 5), Dim("d_model", 6)))
    for call in (lambda: x[:, -2:], lambda: x.reshape(20, 6), lambda: x[torch.arange(4), torch.arange(4)]):
        with run, pytest.raises(InputError, match="no rule"):
            call()
