from __future__ import annotations

import pytest
import torch

from glassformer.bench.record import RESULTS, BenchResult
from glassformer.bench.training_step import PEERS, StepSetting, ours, peer, table

SMALL = StepSetting(batch=2, length=5, d_model=16, n_layers=1, d_ff=32, n_heads=2, vocab_size=20, rounds=1)


def test_every_candidate_makes_a_step() -> None:
    for step in (ours(SMALL, "cpu", False), *(peer(name, SMALL, "cpu", False) for name in PEERS)):
        step()


def test_the_models_are_of_one_size() -> None:
    """Tied embeddings, the same blocks; the peers add learned positions or a bias of the logits."""
    sizes = {name: sum(p.numel() for p in make(SMALL).parameters() if p.requires_grad) for name, make in PEERS.items()}
    assert sizes["torch"] - 512 * 16 - 4 * 16 == sizes["marian"]  # nn.Transformer has a final norm on each side, too


@pytest.mark.parametrize(("lang", "title"), [("en", "target tokens/s"), ("ko", "초당 출력 토큰")])
def test_the_table_compares_with_ours(lang: str, title: str) -> None:
    seconds = {name: {"median": m, "low": m, "high": m} for name, m in (("glassformer", 0.5), ("marian", 1.0))}
    numbers = {"device": "cuda", "setting": SMALL._asdict(), "rows": [{"compiled": True, "seconds": seconds}]}
    rows = table(numbers, lang)
    assert rows[0][-1] == title
    assert [row[-3:] for row in rows[1:]] == [["1.00", "1.00 – 1.00", "20"], ["2.00", "2.00 – 2.00", "10"]]


@pytest.mark.parametrize("file", ["training-step.json", "training-step.h200.json"])
def test_no_peer_was_faster(file: str) -> None:
    for row in BenchResult.read(RESULTS / file).numbers["rows"]:
        medians = {name: seconds["median"] for name, seconds in row["seconds"].items()}
        assert medians["glassformer"] == min(medians.values())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_a_batch_on_the_device_is_not_copied() -> None:
    ours(SMALL, "cuda", False)()
