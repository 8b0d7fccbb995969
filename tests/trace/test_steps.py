from __future__ import annotations

import torch

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.models.build import build
from glassformer.trace.steps import stepping

HEAD = Choice("classifier", {"classes": 3})
CONFIG = ModelConfig(family="encoder", vocab_size=9, d_model=8, n_heads=2, d_ff=12, n_encoder_layers=2, head=HEAD)
TOKENS = torch.tensor([[1, 2, 3]])


def test_watching_step_by_step_changes_no_number() -> None:
    model = build(CONFIG, seed=0).eval()
    plain = model(TOKENS)
    with stepping(model):
        watched = model(TOKENS)
    assert torch.equal(plain, watched)
    assert torch.equal(plain, model(TOKENS))


def test_a_step_knows_its_function_its_operands_its_module_and_its_tap() -> None:
    model = build(CONFIG, seed=0, kernel="reference").eval()
    with stepping(model) as steps:
        model(TOKENS)
    path = "encoder.blocks.1.self_attention"
    (scores,) = [step for step in steps.every if step.path == path and step.tap == "scores"]
    assert scores.function == "matmul"
    q, k = scores.operands[:2]
    assert torch.equal(scores.result, q @ k)
    assert steps.of(scores.result) is scores
    names = [tapped.name for tapped in steps.taps]
    assert names[0] == "embedding.output" and f"{path}.weights" in names and names[-1] == "head.logits"


def test_what_is_shown_twice_in_a_pass_has_two_names() -> None:
    both = ModelConfig(vocab_size=9, d_model=8, n_heads=2, d_ff=12, n_encoder_layers=1, n_decoder_layers=1,
                       tie_embeddings="all", head=Choice("language_model"))  # fmt: skip
    model = build(both, seed=0).eval()
    with stepping(model) as steps:
        model(TOKENS, TOKENS)
    assert [tapped.name for tapped in steps.taps if tapped.path == "embedding"] == [
        "embedding.output",
        "embedding.output#2",
    ]
