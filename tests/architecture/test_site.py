from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FETCHED = re.compile(r"<(?:script|link|img)[^>]*(?:src|href)=\"(https?:[^\"]+)\"")


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_nobody(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0 and "WARNING" not in ran.stderr, ran.stderr
    for page in sorted(tmp_path.rglob("*.html")):
        fetched = re.findall(
            r"<(?:script|link|img)[^>]*(?:src|href)=\"(https?:[^\"]+)\"", page.read_text(encoding="utf-8")
        )
        assert fetched == [], page


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_document_is_in_the_navigation(lang: str) -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs" / lang).glob("*.md")) + sorted((ROOT / "docs" / "adr").glob("*.md")):
        assert str(path.relative_to(ROOT / "docs")) in navigation, path
