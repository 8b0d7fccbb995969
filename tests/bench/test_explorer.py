from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import glassformer as gf
from glassformer.bench import explorer
from glassformer.errors import ConfigError
from glassformer.explorer.inputs import read

NUMBERS = {
    "small": {"tokens": 64, "drawn": {"median": 0.21}, "first": 0.02, "last": 0.03},
    "large": {"tokens": 512, "first_layer": 1.5, "clicks": {"median": 0.05}},
}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_table_sets_each_number_beside_its_aim(lang: str) -> None:
    rows = explorer.table(NUMBERS, lang)
    assert [row[1:] for row in rows[1:]] == [
        ["0.21 s", "≤ 0.3 s"],
        ["1.50 ×", "≤ 1.5 ×"],
        ["1.50 s", "≤ 3 s"],
        ["0.05 s", "≤ 0.1 s"],
    ]
    assert all(row[0] for row in rows)


def test_a_model_of_the_benchmark_reads_as_many_tokens_as_it_says(tmp_path: Path) -> None:
    setting = explorer.settings()[0]
    loaded = gf.load(explorer.saved(setting, tmp_path))
    given = read(loaded, {"text": " ".join(explorer.words(setting.words, 7))})
    assert len(given.source) == setting.words
    assert len({piece.id for piece in given.source}) == setting.words
    assert loaded.config.model.n_heads == loaded.config.model.decoder_layers == 12


def test_without_a_browser_one_line_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match="install Chromium, and Playwright"):
        explorer.run()
