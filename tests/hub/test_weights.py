from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from glassformer.bench.references import quiet
from glassformer.errors import FileError
from glassformer.hub import weights as module
from glassformer.hub.header import read_header
from glassformer.hub.weights import INDEX, SINGLE, StoredWeights, write_tensors


def single(folder: Path, **tensors: Tensor) -> StoredWeights:
    save_file(tensors, folder / SINGLE)
    return StoredWeights.open(folder)


def sharded(folder: Path, placed: dict[str, Any], **shards: dict[str, Tensor]) -> Path:
    for name, tensors in shards.items():
        save_file(tensors, folder / f"{name}.safetensors")
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": placed}))
    return folder


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_tensor_comes_back_bit_for_bit(tmp_path: Path, dtype: torch.dtype) -> None:
    x = {"a": torch.randn(7, 5).to(dtype), "b": torch.randn(3).to(dtype), "c": torch.tensor(2.5, dtype=dtype)}
    found = single(tmp_path, **x, d=torch.empty(0, 3, dtype=dtype))
    assert all(torch.equal(found.read(name), value) and found.dtype(name) == dtype for name, value in x.items())
    assert found.read("d").shape == (0, 3)


@pytest.mark.parametrize("glimpse", [0, 2**20])
def test_a_tensor_is_read_in_pieces_and_cast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, glimpse: int) -> None:
    monkeypatch.setattr(module, "PIECE", 48)  # two rows of 5 halves, and no more
    monkeypatch.setattr(module, "GLIMPSE", glimpse)
    x = torch.randn(11, 12).half()
    found = single(tmp_path, x=x)
    place = torch.empty(11, 12)
    found.read_into("x", place)
    assert torch.equal(place, x.float())
    turned = torch.empty(4, 11)
    found.read_into("x", turned.t(), columns=slice(4, 8))
    assert torch.equal(turned, x[:, 4:8].t().float())
    some = torch.empty(3, 12)
    found.read_into("x", some, rows=slice(5, 8))
    assert torch.equal(some, x[5:8].float())


def test_equal_is_equal_in_every_number(tmp_path: Path) -> None:
    x = torch.randn(5, 3)
    other = x.clone()
    other[4, 2] += 1
    found = single(tmp_path, x=x, same=x.clone(), other=other, narrow=x.half(), turned=x.t().contiguous())
    assert found.equal("x", "same")
    assert not any(found.equal("x", name) for name in ("other", "narrow", "turned"))


def test_several_files_with_an_index(tmp_path: Path) -> None:
    a, b, c = torch.randn(2), torch.randn(3), torch.randn(4)
    folder = sharded(tmp_path, {"a": "one.safetensors", "b": "two.safetensors"}, one={"a": a, "c": c}, two={"b": b})
    found = StoredWeights.open(folder)
    assert sorted(found.tensors) == ["a", "b", "c"]  # what the index does not know is not lost: it is left over
    assert torch.equal(found.read("a"), a) and torch.equal(found.read("b"), b)


@pytest.mark.parametrize("file", ["../one.safetensors", "/etc/passwd", "", "..", "sub/one.safetensors", 7, None])
def test_an_index_that_leads_out_of_its_folder(tmp_path: Path, file: Any) -> None:
    folder = sharded(tmp_path, {"a": file})
    with pytest.raises(FileError, match=r"a is said to lie in '.*', which is not the name of a file in this folder"):
        StoredWeights.open(folder)


def test_an_index_and_files_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"index\.json names 'gone\.safetensors', which is not there; fetch all files"):
        StoredWeights.open(sharded(tmp_path, {"a": "gone.safetensors"}))
    folder = sharded(tmp_path, {"b": "one.safetensors"}, one={"a": torch.zeros(1)})
    with pytest.raises(FileError, match=r"b is said to lie in 'one\.safetensors', but does not; index and files"):
        StoredWeights.open(folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model.bin.index.json"])
def test_a_pickle_is_refused_with_the_way_to_convert_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04never loaded")
    with pytest.raises(
        FileError, match=r"is a pickle, .* convert it: load it with transformers and call save_pretrained"
    ):
        StoredWeights.open(tmp_path)


def test_a_folder_without_weights(tmp_path: Path) -> None:
    with pytest.raises(
        FileError, match=r"has no weights: neither model\.safetensors nor model\.safetensors\.index\.json"
    ):
        StoredWeights.open(tmp_path)


def test_numbers_that_no_model_is_made_of(tmp_path: Path) -> None:
    found = single(tmp_path, x=torch.zeros(2, dtype=torch.int8))
    with pytest.raises(FileError, match=r"x holds numbers of type I8, .* weights may be F64, F32, F16, BF16"):
        found.read("x")


def test_a_file_that_becomes_shorter_while_it_is_read(tmp_path: Path) -> None:
    found = single(tmp_path, x=torch.zeros(100))
    path = tmp_path / SINGLE
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FileError, match="ends in the middle of x"):
        found.read("x")
    path.unlink()
    with pytest.raises(FileError, match="cannot be read: No such file"):
        found.read("x")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_opening_needs_hardly_more_memory_than_the_weights(tmp_path: Path, dtype: str) -> None:
    """200 MB of GPT-2, transposed and in parts, a large embedding among them: the peak is below 1.2 × the weights."""
    _save_gpt2(tmp_path / "large", dtype, vocab_size=30000, n_embd=768, n_layer=4, n_positions=512)
    _save_gpt2(tmp_path / "small", dtype, vocab_size=100, n_embd=48, n_layer=1, n_positions=64)
    # The kernel's own mark of this process: ru_maxrss would begin with that of the process it was forked from.
    measure = f"""
import pathlib, re, torch
from glassformer.hub.open import open_foreign
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
open_foreign({str(tmp_path / "small")!r}, dtype=torch.{dtype})  # what is imported on the way is no memory of weights
before = peak()
found = open_foreign({str(tmp_path / "large")!r}, dtype=torch.{dtype})
weights = sum(x.numel() * x.element_size() for x in found.model.parameters())
print((peak() - before) * 1024 / weights, weights)
"""
    ran = subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    ratio, weights = map(float, ran.stdout.split())
    assert weights > 100e6
    assert ratio < 1.2


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


def test_a_mapped_tensor_is_the_file_and_writing_to_it_never_reaches_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAPPED_FROM", 1)
    x = torch.randn(40, 50)
    found = single(tmp_path, x=x)
    before = (tmp_path / SINGLE).read_bytes()
    mapped = found.mapped("x")
    assert mapped is not None and torch.equal(mapped, x)
    mapped[3] += 1
    again = StoredWeights.open(tmp_path).mapped("x")
    assert again is not None and torch.equal(again, x)
    assert (tmp_path / SINGLE).read_bytes() == before
    assert torch.equal(mapped[3], x[3] + 1) and torch.equal(mapped[4:], x[4:])


def test_a_mapped_tensor_outlives_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAPPED_FROM", 1)
    x = torch.randn(3000)
    mapped = single(tmp_path, x=x).mapped("x")
    save_file({"x": torch.zeros(7)}, tmp_path / "new")
    (tmp_path / "new").replace(tmp_path / SINGLE)  # as every writer here replaces a file
    assert mapped is not None and torch.equal(mapped, x)
    (tmp_path / SINGLE).unlink()
    assert torch.equal(mapped, x)


def test_what_is_small_or_lies_askew_is_not_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = single(tmp_path, x=torch.zeros(10), y=torch.zeros(module.MAPPED_FROM // 4))
    assert found.mapped("x") is None and found.mapped("y") is not None
    monkeypatch.setattr(module, "MAPPED_FROM", 1)
    assert found.mapped("x") is not None
    header = (
        b'{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}'
    )
    numbers = torch.tensor([1.5, -2.5])
    (tmp_path / SINGLE).write_bytes(len(header).to_bytes(8, "little") + header + b"\0" + numbers.numpy().tobytes())
    askew = StoredWeights.open(tmp_path)
    assert askew.tensors["x"].start % 4 and askew.mapped("x") is None
    assert torch.equal(askew.read("x"), numbers)
    wide = torch.empty(2, dtype=torch.float64)
    askew.read_into("x", wide)
    assert torch.equal(wide, numbers.double())


def test_a_file_that_becomes_shorter_before_it_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAPPED_FROM", 1)
    found = single(tmp_path, x=torch.zeros(100), y=torch.zeros(100))
    path = tmp_path / SINGLE
    whole = path.read_bytes()
    assert found.mapped("x") is not None
    path.write_bytes(whole[:-40])  # the same file, in place: the map is older than its end
    with pytest.raises(FileError, match="ends in the middle of y"):
        found.mapped("y")
    with pytest.raises(FileError, match="ends in the middle of y"):
        found.read_into("y", torch.empty(100, dtype=torch.float64))
    path.write_bytes(b"")
    with pytest.raises(FileError, match="cannot be read: cannot mmap an empty file"):
        StoredWeights(tmp_path, found.tensors).mapped("x")
    path.unlink()
    with pytest.raises(FileError, match=r"cannot be read: .*No such file"):
        StoredWeights(tmp_path, found.tensors).mapped("x")
    with pytest.raises(FileError, match="cannot be read: No such file"):
        found.read_into("y", torch.empty(100, dtype=torch.float64))


def _save_gpt2(folder: Path, dtype: str, **sizes: int) -> None:
    """A model of zeros: random numbers would take seconds, and any will do."""
    transformers = pytest.importorskip("transformers")
    with torch.device("meta"):
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(bos_token_id=0, eos_token_id=0, **sizes))
    model.to_empty(device="cpu").tie_weights()
    for weight in model.parameters():
        nn.init.zeros_(weight)
    with quiet():
        model.to(getattr(torch, dtype)).save_pretrained(folder)
