from __future__ import annotations

import pytest
import torch

from glassformer.bench import weight_layout
from glassformer.bench.weight_layout import LAYOUTS, LayoutCandidate, LayoutSetting, step, table


def test_the_three_layouts_compute_the_same() -> None:
    torch.manual_seed(0)
    separate, concatenated, fused = (LayoutCandidate(layout, 32, 4).double() for layout in LAYOUTS)
    concatenated.load_state_dict(separate.state_dict())
    with torch.no_grad():
        fused.w_o.load_state_dict(separate.w_o.state_dict())
        fused.w_qkv.weight.copy_(torch.cat([separate.w_q.weight, separate.w_k.weight, separate.w_v.weight]))
        fused.w_qkv.bias.copy_(torch.cat([separate.w_q.bias, separate.w_k.bias, separate.w_v.bias]))
    x = torch.randn(2, 5, 32, dtype=torch.float64)
    torch.testing.assert_close(concatenated(x), separate(x), rtol=0, atol=1e-12)
    torch.testing.assert_close(fused(x), separate(x), rtol=0, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_step_trains(layout: str) -> None:
    train = step(layout, "cpu", False, LayoutSetting(batch=2, length=4, d_model=64, n_layers=1, rounds=1))
    train()
    train()


def test_a_run_records_numbers_that_become_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = LayoutSetting(batch=2, length=4, d_model=64, n_layers=1, rounds=3)
    monkeypatch.setattr(weight_layout, "SETTINGS", {"cpu": [tiny]})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    numbers = weight_layout.run()
    assert [row["setting"] for row in numbers["rows"]] == [{"batch": 2, "length": 4, "d_model": 64, "n_layers": 1}]
    assert table(numbers, "ko")[1][:4] == [
        "cpu",
        "2×4 토큰, d_model 64, 층 1개",
        "즉시 실행",
        table(numbers, "en")[1][3],
    ]


@pytest.mark.parametrize(
    ("lang", "texts"),
    [
        ("en", ["2×3 tokens, d_model 64, 1 layers", "eager", "compiled"]),
        ("ko", ["2×3 토큰, d_model 64, 층 1개", "즉시 실행", "컴파일"]),
    ],
)
def test_the_table_compares_with_separate(lang: str, texts: list[str]) -> None:
    times = {layout: {"median": m, "low": m, "high": m} for layout, m in zip(LAYOUTS, (2.0, 1.0, 3.0), strict=True)}
    setting = {"batch": 2, "length": 3, "d_model": 64, "n_layers": 1}
    measured = [{"device": "cpu", "setting": setting, "compiled": mode, "seconds": times} for mode in (False, True)]
    _, eager, compiled = table({"rows": measured}, lang)
    assert eager == ["cpu", texts[0], texts[1], "1.000 ± 0.000", "0.500 ± 0.000", "1.500 ± 0.000"]
    assert compiled[2] == texts[2]
