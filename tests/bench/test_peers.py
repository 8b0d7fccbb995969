from __future__ import annotations

import pytest
import torch

from glassformer.bench.peers import PAD, PEERS, StepSetting, TorchTransformer, is_installed
from glassformer.bench.training_step import trained_model
from glassformer.models.build import build

SMALL = StepSetting(batch=2, length=5, d_model=16, n_layers=1, d_ff=32, n_heads=2, vocab_size=20, rounds=1)


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_gives_logits(name: str) -> None:
    if not is_installed(name):
        pytest.skip(f"{name} is not installed")
    tokens = torch.randint(3, 20, (2, 5))
    assert PEERS[name](SMALL)(tokens, tokens).shape == (2, 5, 20)


def test_the_models_are_of_one_size() -> None:
    """Tied embeddings, the same blocks; the peers add learned positions, final norms or a bias of the logits."""
    names = ("torch", "marian")
    sizes = {name: sum(p.numel() for p in PEERS[name](SMALL).parameters() if p.requires_grad) for name in names}
    assert sizes["torch"] - 512 * 16 - 4 * 16 == sizes["marian"]
    assert sizes["marian"] == sum(p.numel() for p in build(trained_model(SMALL), seed=0).parameters())


def test_dropout_is_where_ours_is() -> None:
    model = TorchTransformer(SMALL)
    inside = [m for m in model.modules() if isinstance(m, torch.nn.MultiheadAttention)]
    assert [m.dropout for m in inside] == [0.0] * 3
    rates = {name: m.p for name, m in model.named_modules() if isinstance(m, torch.nn.Dropout)}
    assert {name for name, rate in rates.items() if not rate} == {
        "body.encoder.layers.0.dropout",
        "body.decoder.layers.0.dropout",
    }


def test_a_padded_source_changes_nothing() -> None:
    """What is hidden may hold any token."""
    model = TorchTransformer(SMALL).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    source, target = torch.randint(3, 20, (2, 5)), torch.randint(3, 20, (2, 4))
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    other = source.masked_fill(~real, PAD)
    torch.testing.assert_close(model(source, target, real), model(other, target, real))
    assert not torch.allclose(model(source, target), model(other, target))
