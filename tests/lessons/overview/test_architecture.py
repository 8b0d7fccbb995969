from __future__ import annotations

from dataclasses import replace

import pytest

from glassformer.config.model import ModelConfig
from glassformer.ledger.rows import ledger_rows
from glassformer.lessons.fingerprint import PACKAGE
from glassformer.lessons.overview import architecture
from glassformer.lessons.overview.architecture import BOXES, run
from glassformer.lessons.setup import LessonSetup
from glassformer.loading import open_config


def test_every_box_is_a_module_with_a_file_and_the_sum_is_the_ledgers() -> None:
    data = run(LessonSetup())
    assert data["total"] == sum(row.parameters for row in ledger_rows(open_config("paper-base")))
    assert set(data["boxes"]) == set(BOXES)
    for box in data["boxes"].values():
        assert (PACKAGE / box["file"]).is_file()


def test_the_boxes_come_in_the_order_in_which_the_model_runs_them() -> None:
    order = run(LessonSetup())["order"]
    assert order.index("encoder") < order.index("decoder_self_attention") < order.index("decoder_cross_attention")
    assert order.index("decoder_cross_attention") < order.index("decoder_feed_forward") < order.index("head")


@pytest.mark.slow
def test_another_model_gives_another_map(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(LessonSetup())

    def wider(name: str) -> ModelConfig:
        return replace(open_config(name), d_ff=1024)

    monkeypatch.setattr(architecture, "open_config", wider)
    after = run(LessonSetup())
    saved = 2 * 512 * 1024 + 1024
    assert before["boxes"]["encoder_layer"]["parameters"] - after["boxes"]["encoder_layer"]["parameters"] == saved
    assert after["boxes"]["encoder_feed_forward"]["shape"] == [1, 3, 512]
