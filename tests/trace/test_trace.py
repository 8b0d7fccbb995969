from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import glassformer as gf
from glassformer.errors import FileError, InputError

X = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(3))


def traced(**options: object) -> gf.Trace:
    encoder = gf.Encoder(d_model=16, n_heads=4, d_ff=24, n_layers=2, max_len=8)
    with gf.record(encoder, **options) as trace:
        encoder(X).sum().backward()
    return trace


def test_it_is_a_mapping_of_names() -> None:
    trace = traced()
    assert "blocks.1.self_attention.scores" in trace
    assert 0 not in trace
    assert list(trace) == trace.names() == list(trace.tensors)
    with pytest.raises(InputError, match=r"nothing was recorded under 'blocks.1.self_attention.score'; did you mean"):
        trace["blocks.1.self_attention.score"]


def test_it_shows_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traced()
    assert "blocks.0.self_attention.scores" in repr(trace)
    assert "2×4×5×5" in repr(trace)
    assert "<td>2×4×5×5</td>" in trace._repr_html_()
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert "단계" in repr(trace)


def test_a_file_comes_back_as_it_went(tmp_path: Path) -> None:
    trace = traced(gradients=True)
    trace.tokens = ["나는", "학교에", "간다"]
    trace.save(tmp_path / "a.safetensors")
    again = gf.Trace.open(tmp_path / "a.safetensors")
    assert again.tokens == trace.tokens
    assert again.names() == trace.names()
    assert all(torch.equal(again[name], trace[name]) for name in trace)
    assert all(torch.equal(again.gradient(name), trace.gradient(name)) for name in trace.gradients)
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_a_file_that_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.safetensors"
    with pytest.raises(FileError, match="no such file"):
        gf.Trace.open(path)
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(FileError, match="is not a trace of Glassformer"):
        gf.Trace.open(path)
    save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(FileError, match="is not a trace of Glassformer"):
        gf.Trace.open(path)
    traced().save(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FileError, match="is not a trace of Glassformer"):
        gf.Trace.open(path)


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        traced().save(tmp_path / "missing" / "c.safetensors")
    assert list(tmp_path.iterdir()) == []
