"""A wheel built from the repository has the trained models and the explorer, and works without anything else of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from explorer_process import explorer
from glassformer.explorer.app import STATIC
from glassformer.loading import trained_folders
from in_browser import CHROMIUM, FLAGS, quiet_page
from once import once

ROOT = Path(__file__).parents[2]
CODE = """
import json
import glassformer as gf
found = gf.trained_models()
print(json.dumps({name: str(gf.load(name).folder) for name in found}))
"""
pytestmark = pytest.mark.slow


def _build(out: Path) -> None:
    source = out / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source / name)
    build = "from setuptools.build_meta import build_wheel; import sys; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(out)], cwd=source, check=True, capture_output=True)
    shutil.rmtree(source)


@pytest.fixture(scope="module")
def wheel() -> Path:
    pytest.importorskip("setuptools", minversion="77", reason="the build backend is not installed")
    (made,) = once("wheel", _build).glob("glassformer-*.whl")
    return made


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_wheel_has_the_trained_models_and_opens_them(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    for name, folder in trained_folders().items():
        assert _files(tmp_path / "glassformer" / "trained" / name).keys() == _files(folder).keys()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {
        name: str(tmp_path / "glassformer" / "trained" / name) for name in trained_folders()
    }


# --- the explorer, in an environment that has the wheel, what it needs, and no Node ---


@pytest.fixture
def environment(wheel: Path, tmp_path: Path) -> Path:
    """A fresh virtual environment; the packages that the wheel needs are those of this one."""
    made = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    (packages,) = made.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "others.pth").write_text("\n".join(others) + "\n", encoding="utf-8")
    install = ["--python", str(made / "bin" / "python"), "install", "--no-index", "--no-deps", "--ignore-installed"]
    subprocess.run([sys.executable, "-m", "pip", *install, str(wheel)], check=True, capture_output=True)
    assert _files(packages / "glassformer" / "explorer" / "static") == _files(STATIC)
    assert (packages / "glassformer" / "explorer" / "openapi.json").is_file()
    return made


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; `make test` as root installs it")
def test_the_explorer_of_the_wheel_starts_without_node_and_answers_a_click(environment: Path, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    bare: dict[str, Any] = {"PATH": str(environment / "bin"), "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    assert shutil.which("node", path=bare["PATH"]) is None
    with explorer("--port", "0", start=[str(environment / "bin" / "glassformer")], environment=bare) as one:
        host, port = one.address()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            with quiet_page(browser) as page:
                page.goto(f"http://{host}:{port}/#model=ko-en&text=나는+학교에+간다&view=lens&lang=en")
                page.click("[data-lens='1,2']", timeout=60_000)
                page.wait_for_selector(".lens-cell-open .bars li:first-child .piece")
            browser.close()
    assert one.left == ("", "")
