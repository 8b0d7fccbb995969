from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from glassformer.hub.header import read_header
from glassformer.hub.write import write_tensors

TENSORS = {
    "half": torch.randn(3, 3).half(),
    "wide": torch.randn(5).double(),
    "brain": torch.randn(7).bfloat16(),
    "plain": torch.randn(2, 3, 4),
    "none": torch.empty(0, 4),
    "one": torch.tensor(1.5),
    "turned": torch.randn(4, 6).t(),
}


def test_the_library_reads_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_tensors(path, {name: (x.dtype, tuple(x.shape)) for name, x in TENSORS.items()}, TENSORS.__getitem__)
    found = load_file(path)
    assert found.keys() == TENSORS.keys()
    assert all(torch.equal(found[name], x) and found[name].dtype == x.dtype for name, x in TENSORS.items())
    with safe_open(path, "pt") as file:
        assert file.metadata() == {"format": "pt"}  # what `transformers` asks for


def test_every_number_lies_at_a_multiple_of_its_width(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_tensors(path, {name: (x.dtype, tuple(x.shape)) for name, x in TENSORS.items()}, TENSORS.__getitem__)
    found = read_header(path)
    assert all(found[name].start % x.element_size() == 0 for name, x in TENSORS.items())
