from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.errors import FileError
from glassformer.places import own_folder


def place() -> Path:
    return own_folder("GLASSFORMER_CACHE", "XDG_CACHE_HOME", ".cache")


def test_our_variable_then_the_desktops_then_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("GLASSFORMER_CACHE", "/ours"), ("XDG_CACHE_HOME", "/theirs"), ("HOME", "/person")):
        monkeypatch.setenv(name, value)
    assert place() == Path("/ours")
    monkeypatch.setenv("GLASSFORMER_CACHE", "")
    assert place() == Path("/theirs/glassformer")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert place() == Path("/person/.cache/glassformer")


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GLASSFORMER_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000)  # a user that the system does not know, as in a container
    with pytest.raises(FileError, match="this user has no home folder; set GLASSFORMER_CACHE to a folder"):
        place()
