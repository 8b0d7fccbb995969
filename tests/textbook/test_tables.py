from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.lessons.index import claims
from glassformer.textbook.tables import main, render, verdicts
from packaged import package


def test_every_claim_has_a_row_in_both_languages() -> None:
    for lang in ("en", "ko"):
        rows = verdicts(lang).splitlines()[2:]
        assert len(rows) == len(claims())
        assert all(row.count("{{") == 0 for row in rows)


def test_both_kinds_of_tables_are_filled_in() -> None:
    text = "<!-- verdicts -->\nzzz\n<!-- end -->\n<!-- table: table3 -->\n<!-- end -->\n"
    filled = render(text, "en")
    assert "glassformer claims scale-variance --fresh" in filled and "row of Table 3" in filled and "zzz" not in filled
    assert render(filled, "en") == filled


def test_main_changes_only_what_is_out_of_date(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "README.ko.md"):
        (tmp_path / name).write_text("<!-- table: published-sizes -->\n<!-- end -->\n", encoding="utf-8")
    assert main(tmp_path) == 2
    assert "124,439,808" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert main(tmp_path) == 0


def test_the_trained_folders_of_the_package_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, monkeypatch, {"prices": "forecasting"})
    text = "<!-- models -->\n<!-- end -->\n<!-- cards -->\n<!-- end -->\n"
    for lang in ("en", "ko"):
        filled = render(text, lang)
        assert "`prices`" in filled and "### prices" in filled and "waves (MIT)" in filled
        assert render(filled, lang) == filled
