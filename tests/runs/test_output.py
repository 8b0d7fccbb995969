from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.runs.output import claim, claim_folder, drafted, mark_folder, written_names


def test_a_new_file_may_be_written(tmp_path: Path) -> None:
    claim(tmp_path / "new", inputs=[tmp_path / "old", "no such"])


def test_what_is_there_is_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("x")
    with pytest.raises(FileError, match="old exists already; choose another name, or replace it with --force"):
        claim(tmp_path / "old")
    claim(tmp_path / "old", force=True)
    claim(tmp_path / "old", ours=lambda path: path.read_text() == "x")


def test_an_input_is_never_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("x")
    (tmp_path / "link").symlink_to("in")
    (tmp_path / "hard").hardlink_to("in")
    for name in ("in", "link", "hard", "./in"):
        with pytest.raises(FileError, match="is also read by this command, and would be lost"):
            claim(Path(name), force=True, inputs=["in"])


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="is a folder; name a file"):
        claim(tmp_path, force=True)
    with pytest.raises(FileError, match="is a file; name a folder"):
        claim_folder(tmp_path / "file", "report", force=True)


def test_a_folder_that_the_same_command_made_is_renewed(tmp_path: Path) -> None:
    assert not claim_folder(tmp_path / "new", "report") and not claim_folder(tmp_path, "report")
    (tmp_path / "thesis").write_text("x")
    with pytest.raises(FileError, match=r"is not empty and was not made by this command \(report\)"):
        claim_folder(tmp_path, "report")
    assert not claim_folder(tmp_path, "report", force=True)
    mark_folder(tmp_path, "report")
    assert claim_folder(tmp_path, "report")
    with pytest.raises(FileError, match=r"was not made by this command \(export\)"):
        claim_folder(tmp_path, "export")


def test_a_name_that_is_too_long_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written: File name too long"):
        claim(tmp_path / ("x" * 300) / "y")


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(KeyError), drafted(tmp_path / "new", "export") as draft:
        (draft / "half").write_text("x")
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_a_renewed_folder_loses_what_the_command_wrote_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with drafted(folder, "export") as draft:
        (draft / "stale").write_text("1")
        (draft / "same").write_text("1")
        (draft / "inner").mkdir()
        (draft / "inner" / "stale").write_text("1")
    (folder / "mine").write_text("mine")
    with drafted(folder, "export") as draft:
        (draft / "same").write_text("2")
        (draft / "inner").mkdir()
        (draft / "inner" / "fresh").write_text("2")
    found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert found.pop(".glassformer-export") == "glassformer export\ninner\nsame\n"
    assert found == {"mine": "mine", "same": "2", "inner/fresh": "2"}
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_failed_renewal_leaves_the_old_folder(tmp_path: Path) -> None:
    with drafted(tmp_path / "made", "export") as draft:
        (draft / "x").write_text("1")
    with pytest.raises(KeyError), drafted(tmp_path / "made", "export") as draft:
        (draft / "x").write_text("2")
        raise KeyError
    assert (tmp_path / "made" / "x").read_text() == "1" and [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_marker_that_names_other_places_removes_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    (tmp_path / "made").mkdir()
    mark_folder(tmp_path / "made", "export", ["../precious", "..", ".", "/", "fine"])
    assert written_names(tmp_path / "made", "export") == {"fine"}
    with drafted(tmp_path / "made", "export") as draft:
        (draft / "x").write_text("1")
    assert (tmp_path / "precious").read_text() == "x"


def test_a_folder_that_is_read_or_lies_beside_what_is_read_stays(tmp_path: Path) -> None:
    (tmp_path / "run" / "inner").mkdir(parents=True)
    (tmp_path / "run" / "inner" / "weights").write_text("x")
    for folder in (tmp_path / "run", tmp_path / "run" / "inner", tmp_path):
        with pytest.raises(FileError, match="is also read by this command"):
            claim_folder(folder, "export", force=True, inputs=[tmp_path / "run"])
    claim_folder(tmp_path / "run" / "new", "export", inputs=[tmp_path / "run"])


def test_a_file_of_the_run_that_is_read_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    weights = tmp_path / "run" / "checkpoints" / "ema.safetensors"
    weights.touch()
    with pytest.raises(FileError, match="is also read by this command"):
        claim(weights, force=True, inputs=[tmp_path / "run"])
    claim(tmp_path / "run" / "new.safetensors", inputs=[tmp_path / "run"])
