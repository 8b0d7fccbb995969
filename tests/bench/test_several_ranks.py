from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from glassformer.bench import several_ranks
from glassformer.bench.peers import StepSetting
from glassformer.bench.record import recorded_results
from glassformer.bench.several_ranks import HELD, WAYS, predicted, table
from once import once

SMALL = StepSetting(batch=4, length=6, d_model=32, n_layers=2, d_ff=64, n_heads=2, vocab_size=60, rounds=2)
PROGRAM = f"""
import sys
from pathlib import Path
from glassformer.bench import several_ranks
from glassformer.bench.peers import StepSetting
from glassformer.files import write_json
from pairs import ended, start

several_ranks.SETTING, several_ranks.ROUNDS, several_ranks.STEPS = {SMALL!r}, 2, 1

def work(ranks):
    found = several_ranks.measure(ranks)
    if ranks.first:
        write_json(Path(sys.argv[1]) / "found.json", found)

sys.exit(any(ended(start(2, work))))
"""


def small_steps(folder: Path) -> None:
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)], stderr=subprocess.PIPE, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr[-3000:]


@pytest.mark.slow
def test_each_way_is_measured_and_what_a_rank_holds_is_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers: dict[str, Any] = json.loads((once("several-ranks", small_steps) / "found.json").read_text())
    monkeypatch.setattr(several_ranks, "SETTING", SMALL)
    assert all(len(numbers["seconds"][way]) == 2 and min(numbers["seconds"][way]) > 0 for way in WAYS)
    for way in WAYS:
        held = {item.name: item.bytes for item in predicted(numbers, way).memory}
        assert [numbers["held"][way][name] for name in HELD] == pytest.approx([held[name] for name in HELD], rel=0.02)
    assert numbers["link"] > 0 < numbers["product"]
    assert [len(row) for row in table(numbers, "en")] == [6] * 4


def test_two_ranks_are_faster_than_one_and_fsdp_holds_half() -> None:
    numbers = recorded_results("several-ranks")[0].numbers
    titles, one, ddp, fsdp = table(numbers, "ko")
    assert titles[0] == "같은 스텝" and len({len(row) for row in (titles, one, ddp, fsdp)}) == 1
    assert max(min(numbers["seconds"][way]) for way in ("ddp", "fsdp")) < min(numbers["seconds"]["one"])
    whole, shares = (sum(numbers["held"][way].values()) for way in ("ddp", "fsdp"))
    assert shares == pytest.approx(whole / 2, rel=0.01)
