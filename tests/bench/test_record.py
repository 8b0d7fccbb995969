from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.bench.record import RESULTS, Result, result


def test_a_result_says_where_it_comes_from(tmp_path: Path) -> None:
    measured = result("table3", {"rows": [1, 2]})
    assert measured.command == "glassformer bench table3"
    assert set(measured.versions) == {"python", "torch"}
    measured.write(tmp_path / "table3.json")
    assert Result.read(tmp_path / "table3.json") == measured
    assert [path.name for path in tmp_path.iterdir()] == ["table3.json"]


def test_a_failed_write_leaves_the_old_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = result("table3", {"rows": []})
    measured.write(tmp_path / "table3.json")
    before = (tmp_path / "table3.json").read_bytes()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        result("table3", {"rows": [3]}).write(tmp_path / "table3.json")
    assert (tmp_path / "table3.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["table3.json"]


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_recorded_results_are_whole(path: Path) -> None:
    recorded = Result.read(path)
    assert recorded.name == path.name.split(".")[0]
    assert recorded.commit != "unknown"
    assert recorded.numbers
