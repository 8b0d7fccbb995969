"""A font that has Hangul: the system's, else that of the extra `ko-fonts`, else none."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

FAMILIES = ("NanumGothic", "Noto Sans CJK KR", "Noto Sans KR", "Malgun Gothic", "Apple SD Gothic Neo", "AppleGothic")
PACKAGE = "koreanize_matplotlib"  # only its font is used: its code breaks on newer Pythons


@cache
def hangul_font() -> str | None:
    """The name of a font that has Hangul; None if there is none."""
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    named = next((family for family in FAMILIES if family in known), None)
    return named or next(filter(None, map(_added, [*_of_system(), *of_package()])), None)


def _of_system() -> list[str]:
    """Files of fonts for Korean, as fontconfig knows them."""
    try:
        listed = subprocess.run(["fc-list", ":lang=ko", "file"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return sorted(line.strip().rstrip(":") for line in listed.splitlines() if line.strip())


def of_package() -> list[str]:
    """Fonts that come with the package, wherever it is installed."""
    found = find_spec(PACKAGE)
    places = [] if found is None else list(found.submodule_search_locations or [])
    return sorted(str(path) for place in places for path in Path(place).rglob("*.ttf") if "Bold" not in path.name)


def _added(path: str) -> str | None:
    """Adds a font to matplotlib; returns its name, or None if it has no Hangul after all."""
    from matplotlib.font_manager import fontManager, get_font

    try:
        font = get_font(path)
        if not font.get_char_index(ord("한")):
            return None
        fontManager.addfont(path)
    except (OSError, RuntimeError):  # gone, or in a format that FreeType does not read
        return None
    return font.family_name
