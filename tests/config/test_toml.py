from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.config.toml import LARGEST_FILE, read_toml, to_toml
from glassformer.errors import FileError

HANGUL = re.compile(r"[가-힣]")

# --- TOML in ---


def unreadable(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read_toml(path)
    korean = caught.value.in_language("ko")
    assert HANGUL.search(korean)
    assert str(path)[:100] in korean
    return str(caught.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "모델.toml"
    path.write_text('[model]\nfamily = "encoder"  # 인코더\n', encoding="utf-8")
    assert read_toml(path) == {"model": {"family": "encoder"}}


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert unreadable(path) == f"{path}: no such file; check the path, or name a preset (glassformer presets)"


def test_a_folder(tmp_path: Path) -> None:
    assert unreadable(tmp_path) == f"{tmp_path} cannot be read: Is a directory; check the path and its permissions"


def test_a_device_is_not_read() -> None:
    assert unreadable(Path("/dev/zero")).startswith("/dev/zero: no such file")


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    assert unreadable(path).startswith(f"{path}: no such file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "closed.toml"
    path.write_text("[model]\n")
    path.chmod(0)
    assert unreadable(path) == f"{path} cannot be read: Permission denied; check the path and its permissions"


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    assert "cannot be read: File name too long" in unreadable(tmp_path / ("a" * 300 + ".toml"))


def test_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_bytes(b"#" * 2 * 10**6)
    assert unreadable(path) == (
        f"{path} has 2000000 bytes, more than a configuration may have ({LARGEST_FILE}); is it the right file?"
    )


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xff\xfe[model]", "is not UTF-8 text (byte 0); save it as UTF-8"),
        ("[model]\nname = '가'".encode("cp949"), "is not UTF-8 text (byte 16); save it as UTF-8"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "is not TOML: "),
        (b"\x00" * 64, "is not TOML: "),
        (b"[model", "is not TOML: "),
        (b"[model]\nd_ff = \n", "is not TOML: "),
        (b"[model]\nd_ff = 1\nd_ff = 2\n", "is not TOML: "),
        (b"[model]\nd_ff = " + b"9" * 5_000, "holds a number of over 4,300 digits; write a shorter one"),
        (b"[model]\nd_ff = 1979-99-99", "is not TOML: "),
        (b"x = " + b"[" * 50_000, "is nested too deeply; a configuration has two levels"),
        (b"x = " + b"[" * 50_000 + b"]" * 50_000, "is nested too deeply; a configuration has two levels"),
        (b"x = " + b"{a=" * 50_000, "is nested too deeply; a configuration has two levels"),
        (b"a." * 500_000 + b"a = 1", "is nested too deeply; a configuration has two levels"),
        (b"x = {" + b"a." * 500_000 + b"a = 1}", "is nested too deeply; a configuration has two levels"),
        (b"[" + b"a." * 500_000 + b"a]", "is nested too deeply; a configuration has two levels"),
    ],
    ids=[
        "byte-order-mark",
        "cp949",
        "binary",
        "zeros",
        "open-bracket",
        "no-value",
        "twice",
        "thousands-of-digits",
        "no-such-day",
        "arrays-open",
        "arrays",
        "tables",
        "dotted-key",
        "dotted-key-inside",
        "dotted-header",
    ],
)
def test_a_hostile_file_is_one_line(content: bytes, line: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.toml"
    path.write_bytes(content)
    said = unreadable(path)
    assert said.startswith(f"{path} {line}")
    assert "\n" not in said


# --- TOML out ---


def test_toml_is_written_as_people_write_it() -> None:
    table = {"family": "encoder", "final_norm": True, "eps": 1e-5, "bias": ["q", "k"], "head": {"kind": "none"}}
    assert to_toml({"model": table}) == (
        '[model]\nfamily = "encoder"\nfinal_norm = true\neps = 1e-05\nbias = ["q", "k"]\nhead = { kind = "none" }\n'
    )


keys = st.sampled_from(["a", "b_c", "d"])
plain = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
values = plain | st.lists(plain, max_size=3) | st.dictionaries(keys, plain | st.lists(plain, max_size=2))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(keys, st.dictionaries(keys, values)))
def test_what_is_written_is_what_is_read(tables: dict[str, dict[str, Any]]) -> None:
    assert tomllib.loads(to_toml(tables)) == tables


def test_what_toml_has_no_word_for_is_refused() -> None:
    with pytest.raises(TypeError, match="TOML has no NoneType"):
        to_toml({"model": {"d_k": None}})
