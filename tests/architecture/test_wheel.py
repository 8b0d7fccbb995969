"""A wheel built from the repository has the trained models, and they answer without anything else of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from glassformer.loading import trained_folders

ROOT = Path(__file__).parents[2]
CODE = """
import json
import glassformer as gf
found = gf.trained_models()
print(json.dumps({name: str(gf.load(name).folder) for name in found}))
"""


@pytest.mark.slow
def test_a_wheel_has_the_trained_models_and_opens_them(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77", reason="the build backend is not installed")
    source, unpacked = tmp_path / "source", tmp_path / "unpacked"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source / name)
    build = "from setuptools.build_meta import build_wheel; import sys; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=source, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("glassformer-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    for name, folder in trained_folders().items():
        ours = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
        theirs = unpacked / "glassformer" / "trained" / name
        assert {path.relative_to(theirs) for path in theirs.rglob("*") if path.is_file()} == ours
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        "PYTHONPATH": str(unpacked)
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {
        name: str(unpacked / "glassformer" / "trained" / name) for name in trained_folders()
    }
