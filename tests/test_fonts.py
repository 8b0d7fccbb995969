from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest

from glassformer import fonts


def test_a_font_without_hangul_is_not_taken() -> None:
    latin = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    assert fonts._added(str(latin)) is None
    assert fonts._added("/nowhere/font.ttf") is None


def test_no_fontconfig_means_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert fonts._of_system() == []


def test_the_font_of_the_package_is_found_without_importing_it() -> None:
    """The package is part of the extra dev, so a machine that runs the tests always has Hangul."""
    assert [Path(path).name for path in fonts.of_package() if fonts._added(path)] != []


def test_without_the_package_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "PACKAGE", "no_such_package_of_fonts")
    assert fonts.of_package() == []


def test_where_tests_run_there_is_a_font() -> None:
    assert fonts.hangul_font() is not None
