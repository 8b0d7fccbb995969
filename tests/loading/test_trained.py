from __future__ import annotations

from pathlib import Path

import pytest

import glassformer as gf
import tiny_runs
from glassformer.errors import ConfigError, FileError
from glassformer.loading import load, open_config, recipes, trained_folders, weights_folder
from glassformer.loading.trained import TRAINED, close_name, comes_with_package, is_there, resolve_model
from glassformer.models.presets import PRESETS
from packaged import package

HOSTILE = ("../digits", "", " ", ".", "..", "a/b/c", "digits/", "digits\0", "x" * 5000, "digits\n", "/", "~", "-")


def test_every_model_of_the_package_is_a_run_and_opens_by_its_name() -> None:
    for name, folder in trained_folders().items():
        assert folder == TRAINED / name and comes_with_package(folder)
        assert load(name).folder == folder
        assert weights_folder(name) == (None if name in PRESETS else folder)


def test_a_name_means_the_model_wherever_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = package(tmp_path, monkeypatch, {"ko-en": "translation"})
    monkeypatch.chdir(tmp_path)
    assert trained_folders() == {"ko-en": place / "ko-en"}
    loaded = gf.load("ko-en")
    assert loaded.folder == place / "ko-en"
    assert open_config("ko-en") == loaded.config.model
    assert gf.count("ko-en").total.parameters == gf.count(place / "ko-en").total.parameters
    assert isinstance(gf.translate("ko-en", "우리는 자주 웃는다"), str)
    assert gf.embed("ko-en", "우리는 자주 웃는다").shape == (32,)
    assert gf.compare("ko-en", place / "ko-en", ["우리는 자주 웃는다"]).same
    assert "tiny" not in recipes() and resolve_model("elsewhere") == "elsewhere"


def test_a_name_wins_over_a_folder_and_a_path_never_means_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = package(tmp_path, monkeypatch, {"ko-en": "translation"})
    monkeypatch.chdir(tmp_path)
    mine = tiny_runs.trained("translation", tmp_path).rename(tmp_path / "ko-en")
    assert load("ko-en").folder == weights_folder("ko-en") == place / "ko-en"
    for given in ("./ko-en", Path("ko-en"), mine):
        assert load(given).folder.resolve() == mine
        found = weights_folder(given)
        assert found is not None and found.resolve() == mine


def test_a_preset_comes_first_where_no_weights_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = package(tmp_path, monkeypatch, {"gpt2": "language_model"})
    assert open_config("gpt2") == PRESETS["gpt2"]() and weights_folder("gpt2") is None
    assert load("gpt2").folder == place / "gpt2"


def test_a_misspelt_name_is_answered_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, monkeypatch, {"ko-en": "translation"})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"'ko-em' is no trained model of the package; did you mean ko-en\?"):
        load("ko-em")
    with pytest.raises(ConfigError, match=r"neither a preset nor a trained model nor a file; did you mean ko-en\?"):
        open_config("ko-em")
    with pytest.raises(FileError, match="nowhere is not a run"):
        load("nowhere")
    with pytest.raises(FileError, match="ko-em is not a run"):
        load(Path("ko-em"))
    (tmp_path / "ko-em").mkdir()
    with pytest.raises(FileError, match="ko-em is not a run"):
        load("ko-em")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_one_line_and_leads_nowhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, monkeypatch, {"digits": "image_classification"})
    monkeypatch.chdir(tmp_path)
    assert resolve_model(name) == name
    with pytest.raises(gf.GlassformerError) as caught:
        load(name)
    assert len(str(caught.value)) < 2000


def test_close_is_a_slip_of_the_finger() -> None:
    known = ["ko-en", "digits", "sentiment-ko"]
    assert close_name("ko-em", known) == close_name("koen", known) == "ko-en"
    assert close_name("sentiment", known) == "sentiment-ko"
    assert [close_name(word, known) for word in ("digits", "digest", "the digits", "나는", "", "digit" * 20)] == [
        None
    ] * 6


def test_what_cannot_be_a_name_is_not_there(tmp_path: Path) -> None:
    assert is_there(str(tmp_path)) and not any(map(is_there, ("", "a\0b", "x" * 5000, str(tmp_path / "none"))))


def test_without_any_model_the_package_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.loading.trained.TRAINED", tmp_path / "none")
    assert trained_folders() == {}
