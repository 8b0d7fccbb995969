from __future__ import annotations

import pytest
import torch

from glassformer.bench import peak_memory
from glassformer.bench.peak_memory import predicted, run, table
from glassformer.bench.record import RESULTS, BenchResult
from glassformer.errors import ConfigError
from glassformer.ledger.memory import memory


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_without_an_accelerator_it_says_so() -> None:
    with pytest.raises(ConfigError, match="peak-memory is measured on an accelerator, and there is none here"):
        run()


@pytest.mark.parametrize("free", [0, 2**40])
def test_every_case_gets_its_own_peak(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peak_memory, "need_accelerator", lambda name: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, free))
    monkeypatch.setattr(peak_memory, "measured", lambda config, step: memory(config, step).peak)
    rows = run()["rows"]
    assert len(rows) == 8 and all(predicted(row) == row["measured"] for row in rows)
    assert len({row["measured"] for row in rows}) == 8


@pytest.mark.parametrize(("lang", "title"), [("en", "predicted"), ("ko", "예측")])
def test_the_table_shows_both_and_the_error(lang: str, title: str) -> None:
    row = {"model": "gpt2", "batch": 8, "length": 16, "autocast": True, "recompute": False}
    rows = table({"rows": [{**row, "measured": 2 * predicted(row)}]}, lang)
    assert title in rows[0]
    assert rows[1][-3:] == [f"{predicted(row) / 2**30:.2f} GiB", f"{predicted(row) / 2**29:.2f} GiB", "-50.0 %"]


def test_the_recorded_errors_are_within_five_percent() -> None:
    recorded = BenchResult.read(RESULTS / "peak-memory.h200.json").numbers["rows"]
    settings = {(row["model"], row["autocast"], row["recompute"]) for row in recorded}
    assert len(settings) == 8
    assert all(abs(predicted(row) / row["measured"] - 1) <= 0.05 for row in recorded)
