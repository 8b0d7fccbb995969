from __future__ import annotations

import weakref
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import glassformer as gf
from glassformer.comparison import ours as compare_ours
from glassformer.comparison.compare import compare
from glassformer.comparison.inputs import SharedInput
from glassformer.comparison.ours import Ours, ours
from glassformer.loading import Loaded
from small_translator import trained


def test_every_tap_is_handed_on_in_the_order_of_the_pass() -> None:
    model = gf.build("small-translator", seed=0).eval()
    source, target = torch.tensor([[5, 6, 7]]), torch.tensor([[8, 9]])
    seen: dict[str, Tensor] = {}
    Ours(model).walk(SharedInput(source, None, target), {}, seen.__setitem__)
    with torch.no_grad(), gf.record(model) as trace:
        model(source, target)
    assert list(seen) == trace.names() and "embedding.output#2" in seen
    assert all(torch.equal(seen[name], trace[name]) for name in trace)


def test_each_way_to_name_a_model(tmp_path: Path) -> None:
    folder = trained(tmp_path)
    loaded = gf.load(folder)
    assert ours(loaded).name == "small-run" and ours(loaded).open(None).model is loaded.model
    assert ours(folder).name == str(folder) and ours(str(folder)).open(None).loaded is not None
    assert ours("small-decoder").open(None).loaded is None
    table = {"preset": "small-decoder", "n_decoder_layers": 1}
    assert ours(table).name == "model" and ours(gf.build(table)).name == "DecoderOnly"
    weights = [next(ours(table).open(None).model.parameters()) for _ in range(2)]
    assert torch.equal(*weights)  # of one seed


def test_what_it_reads_is_known_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = trained(tmp_path)
    monkeypatch.delattr(compare_ours, "load")
    assert ours(folder).reads.source.vocab_size == 29
    assert ours("llama3-405b").reads.source.vocab_size == 128256


def test_the_first_model_is_gone_before_the_second_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = trained(tmp_path)
    alive: list[weakref.ref[nn.Module]] = []
    held: list[int] = []

    def watched(path: Path) -> Loaded:
        held.append(sum(each() is not None for each in alive))
        loaded = gf.load(path)
        alive.append(weakref.ref(loaded.model))
        return loaded

    monkeypatch.setattr(compare_ours, "load", watched)
    assert compare(folder, folder, ["나는 학교에 간다"]).identical
    assert held == [0, 0]
