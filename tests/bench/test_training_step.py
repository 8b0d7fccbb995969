from __future__ import annotations

import pytest
import torch

from glassformer.bench import training_step
from glassformer.bench.peers import PEERS, StepSetting, is_installed
from glassformer.bench.record import RESULTS, BenchResult
from glassformer.bench.training_step import measured, ours, peer, table

SMALL = StepSetting(batch=2, length=5, d_model=16, n_layers=1, d_ff=32, n_heads=2, vocab_size=20, rounds=2)


def test_every_candidate_makes_a_step() -> None:
    names = filter(is_installed, PEERS)
    for step in (ours(SMALL, "cpu", False), *(peer(name, SMALL, "cpu", False) for name in names)):
        step()


def test_a_peer_that_is_not_installed_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_step, "is_installed", lambda name: name == "torch")
    row = measured(SMALL, "cpu", False)
    assert row["seconds"].keys() == {"glassformer", "torch"}
    assert row["missing"] == ["marian", "x_transformers"]
    numbers = {"device": "cpu", "setting": SMALL._asdict(), "ceiling": 1e12, "flops": 1, "rows": [row]}
    missing = [line[2:] for line in table(numbers, "en")[3:]]
    assert missing == [[name, "not installed", *"––––"] for name in ("Hugging Face Marian", "x-transformers")]


@pytest.mark.parametrize(("lang", "title"), [("en", "target tokens/s"), ("ko", "초당 출력 토큰")])
def test_the_table_compares_with_ours(lang: str, title: str) -> None:
    seconds = {name: {"median": m, "low": m, "high": m} for name, m in (("glassformer", 0.5), ("marian", 1.0))}
    numbers = {"device": "cuda", "setting": SMALL._asdict(), "rows": [{"compiled": True, "seconds": seconds}]}
    rows = table(numbers, lang)
    assert rows[0][-1] == title
    assert [row[-3:] for row in rows[1:]] == [["1.00", "1.00 – 1.00", "20"], ["2.00", "2.00 – 2.00", "10"]]


def test_where_the_ceiling_was_measured_the_table_has_its_share_and_the_memory() -> None:
    seconds = {"glassformer": {"median": 0.5, "low": 0.5, "high": 0.5}}
    row = {"compiled": True, "seconds": seconds, "peak": {"glassformer": 3 * 2**29}, "missing": []}
    numbers = {"device": "cuda", "setting": SMALL._asdict(), "ceiling": 1000.0, "flops": 250, "rows": [row]}
    titles, line = table(numbers, "en")
    assert titles[-2:] == ["share of the ceiling", "peak memory"]
    assert line[-2:] == ["50.0 %", "1.50 GiB"]


@pytest.mark.parametrize("file", ["training-step.json", "training-step.h200.json"])
def test_no_peer_was_faster(file: str) -> None:
    for row in BenchResult.read(RESULTS / file).numbers["rows"]:
        medians = {name: seconds["median"] for name, seconds in row["seconds"].items()}
        assert medians["glassformer"] == min(medians.values())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_a_batch_on_the_device_is_not_copied() -> None:
    ours(SMALL, "cuda", False)()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.filterwarnings("ignore")  # torch's own compiler warns about itself
def test_a_compiled_step_is_captured_and_has_a_peak() -> None:
    row = measured(SMALL, "cuda", True)
    assert row["peak"].keys() == {"glassformer", "marian"} and min(row["peak"].values()) > 0
