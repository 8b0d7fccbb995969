from __future__ import annotations

import os
import platform
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import torch

from glassformer import doctor
from glassformer.doctor import Finding, examine


def found(kind: str, name: str = "") -> Finding:
    return next(each for each in examine() if each.kind == kind and (not name or each.name == name))


def test_the_versions_are_those_of_this_machine() -> None:
    assert found("python").text("en").startswith(platform.python_version())
    for name in doctor.PACKAGES:
        finding = found("package", name)
        assert (finding.ok, finding.text("en")) == (True, metadata.version(name))


def test_everything_needed_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLASSFORMER_DATA", raising=False)
    assert [each.name or each.kind for each in examine() if not each.ok and not each.optional] == []


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("torch", "no-such-package"))
    finding = found("package", "no-such-package")
    assert (finding.ok, finding.optional) == (False, False)
    assert finding.text("en") == "not installed: pip install no-such-package"
    assert finding.text("ko") == "설치되어 있지 않습니다: pip install no-such-package"


@pytest.mark.skipif(torch.version.cuda is not None, reason="with a CUDA build of torch these packages belong")
def test_cuda_packages_beside_a_cpu_build_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "wheel_mixed" not in [each.key for each in examine()]
    folder = tmp_path / "nvidia_cublas-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cublas\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    finding = next(each for each in examine() if each.key == "wheel_mixed")
    assert not finding.ok
    assert finding.text("en") == (
        "a CPU build of torch beside CUDA packages (nvidia-cublas): remove them, or install a CUDA build of torch"
    )
    assert "CUDA 패키지(nvidia-cublas)" in finding.text("ko")


def test_cores_and_memory() -> None:
    cores = found("device", "CPU")
    assert cores.text("en") == f"{torch.get_num_threads()} threads on {os.cpu_count()} cores"
    assert cores.text("ko") == f"코어 {os.cpu_count()}개, 스레드 {torch.get_num_threads()}개"
    memory = found("memory").values
    assert 0 < float(memory["available"]) <= float(memory["total"])


def test_memory_is_left_out_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert [each.kind for each in examine() if each.kind in ("memory", "font")] == ["font"]


def test_the_accelerator_is_optional() -> None:
    finding = found("device", "CUDA")
    assert finding.ok is torch.cuda.is_available()
    assert finding.ok or finding.optional
    assert finding.text("en") != finding.text("ko") or finding.ok


def test_a_machine_without_fontconfig_has_no_hangul_font(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found("font").text("en").endswith("(ko-fonts)")
    monkeypatch.setattr("glassformer.fonts.PACKAGE", "no_such_package_of_fonts")
    finding = found("font")
    assert (finding.ok, finding.optional) == (False, True)
    assert "apt install fonts-nanum" in finding.text("en")
    assert "apt install fonts-nanum" in finding.text("ko")


def test_the_first_hangul_font_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "fc-list"
    program.write_text("#!/bin/sh\necho 'Noto Sans CJK KR'\necho\necho 'NanumGothic,나눔고딕'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = found("font")
    assert (finding.ok, finding.text("en")) == (True, "NanumGothic,나눔고딕")


def test_the_folder_of_the_data_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLASSFORMER_DATA", raising=False)
    unset = found("data")
    assert (unset.ok, unset.optional) == (False, True)
    assert "GLASSFORMER_DATA is not set" in unset.text("en")

    monkeypatch.setenv("GLASSFORMER_DATA", str(tmp_path))
    assert (found("data").ok, found("data").text("en")) == (True, str(tmp_path))

    absent = tmp_path / "none"
    monkeypatch.setenv("GLASSFORMER_DATA", str(absent))
    wrong = found("data")
    assert (wrong.ok, wrong.optional) == (False, False)
    assert wrong.text("en") == (
        f"GLASSFORMER_DATA is {absent}, which is not a folder; set it to the folder of the data sets"
    )
    assert wrong.text("ko").startswith(f"GLASSFORMER_DATA={absent}: 폴더가 아닙니다")


def test_a_finding_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    assert Finding("package", name="torch", value="2.13.0").to_json() == {
        "kind": "package",
        "name": "torch",
        "found": "2.13.0",
        "ok": True,
        "optional": False,
    }
    assert Finding("font", key="font_missing", ok=False, optional=True).to_json()["name"] == "font"


def test_things_have_names_in_both_languages() -> None:
    assert Finding("font", value="x").thing("en") == "Hangul font"
    assert Finding("font", value="x").thing("ko") == "한글 글꼴"
    assert Finding("package", name="torch", value="x").thing("ko") == "torch"


def test_all_packages_and_extras_of_the_project_are_looked_for() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[\[><=]", each)[0] for each in requirements}

    assert set(doctor.PACKAGES) == names(project["dependencies"])
    extras = {name: names(some) for name, some in project["optional-dependencies"].items() if name != "dev"}
    assert {name: set(some) for name, some in doctor.EXTRAS.items()} == extras


def test_an_extra_says_what_it_is_for_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found("extra", "[images]").text("en").endswith("; for images of your own and the digits")
    monkeypatch.setattr(doctor, "EXTRAS", {"prices": ("no-such-package",)})
    finding = found("extra", "[prices]")
    assert (finding.ok, finding.optional) == (False, True)
    assert finding.text("en") == (
        "not installed: no-such-package; for the recipe prices: pip install '.[prices]' in the folder of Glassformer"
    )
    assert "pip install '.[prices]'" in finding.text("ko") and "레시피 prices" in finding.text("ko")
