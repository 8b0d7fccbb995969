from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer.data import unpacking
from glassformer.data.unpacking import check_unpacked_size, is_archive, unpack
from glassformer.errors import FileError
from publisher import tar, zipped
from small_disk import no_file_larger_than

FILES = {"training/one.en": b"one\n", "./two.en": b"two\n" * 5000, "deep/er/three.en": b""}


def entry(name: str, kind: bytes = tarfile.REGTYPE, goal: str = "", content: bytes = b"x") -> bytes:
    """An archive with one good file and one entry of another kind."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        good = tarfile.TarInfo("good.en")
        good.size = 2
        archive.addfile(good, io.BytesIO(b"g\n"))
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, goal
        member.size = len(content) if kind == tarfile.REGTYPE else 0
        archive.addfile(member, io.BytesIO(content) if kind == tarfile.REGTYPE else None)
    return whole.getvalue()


def taken(content: bytes, place: Path, *names: str, as_name: str = "x.tgz") -> dict[str, bytes]:
    """What is written of an archive, by name."""
    place.mkdir(exist_ok=True)
    archive = place.with_name(as_name)
    archive.write_bytes(content)
    unpack(archive, {name: place / name.rpartition("/")[2] for name in names}, "https://host/x.tgz")
    return {path.name: path.read_bytes() for path in place.iterdir()}


@pytest.mark.parametrize("packing", ["", "gz", "xz", "bz2"])
def test_named_files_come_out_of_a_tar_and_no_others(packing: str, tmp_path: Path) -> None:
    found = taken(tar(FILES, packing), tmp_path / "out", "training/one.en", "two.en")
    assert found == {"one.en": b"one\n", "two.en": b"two\n" * 5000}


def test_named_files_come_out_of_a_zip(tmp_path: Path) -> None:
    assert taken(zipped(FILES), tmp_path / "out", "one.en", "three.en") == {"one.en": b"one\n", "three.en": b""}


@pytest.mark.parametrize("name", ["a.tgz", "a.tar.gz", "a.tar", "a.tar.xz", "a.tar.bz2", "a.zip"])
def test_archives_are_known_by_their_names(name: str) -> None:
    assert is_archive(name) and not is_archive(f"{name}.en") and not is_archive("train.en.gz")


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (entry("../bad.en"), "bad.en", "its path leads out of the archive"),
        (entry("/etc/bad.en"), "bad.en", "its path leads out of the archive"),
        (entry("a/../../bad.en"), "bad.en", "its path leads out of the archive"),
        (entry("..\\bad.en"), "bad.en", "its path leads out of the archive"),
        (entry("C:\\bad.en"), "bad.en", "its path leads out of the archive"),
        (entry("bad.en", tarfile.SYMTYPE, "/etc/passwd"), "bad.en", "it is a link or a device and not a file"),
        (entry("bad.en", tarfile.LNKTYPE, "good.en"), "bad.en", "it is a link or a device and not a file"),
        (entry("bad.en", tarfile.FIFOTYPE), "bad.en", "it is a link or a device and not a file"),
        (entry("bad.en", tarfile.CHRTYPE), "bad.en", "it is a link or a device and not a file"),
        (entry("bad.en", tarfile.DIRTYPE), "bad.en", "it is a link or a device and not a file"),
        (entry("elsewhere/good.en"), "good.en", "it is in the archive twice"),
        (entry("good.en"), "good.en", "it is in the archive twice"),
    ],
)
def test_what_is_not_one_file_in_the_archive_is_refused(
    content: bytes, name: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FileError, match=rf"^https://host/x\.tgz: .* is refused, {message}; get the file"):
        taken(content, tmp_path / "out", "good.en", *({name} - {"good.en"}))
    assert list((tmp_path / "out").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "x.tgz"]


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        link = zipfile.ZipInfo("bad.en")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(FileError, match="is a link or a device"):
        taken(whole.getvalue(), tmp_path / "out", "bad.en")


@pytest.mark.parametrize("make", [tar, zipped])
def test_a_bomb_is_refused_before_it_is_written(
    make: Callable[..., bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "ALWAYS", 100_000)
    bomb = make({"bomb.en": b"\0" * 1_000_000})
    assert len(bomb) * unpacking.TIMES < 1_000_000
    with pytest.raises(FileError, match=r"bomb\.en is refused, unpacked it is larger than [\d,]+ bytes"):
        taken(bomb, tmp_path / "out", "bomb.en")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_bomb_beside_the_wanted_file_and_a_million_empty_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "ALWAYS", 100_000)
    monkeypatch.setattr(unpacking, "TIMES", 20)
    for files in ({"a": b"\0" * 1_000_000, "b": b"b"}, {f"{i}": b"" for i in range(2000)}):
        with pytest.raises(FileError, match="far more than text unpacks to"):
            taken(tar(files), tmp_path / "out", "b")


def test_a_packed_file_that_is_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "ALWAYS", 100_000)
    path = tmp_path / "train.en.gz"
    path.write_bytes(gzip.compress(b"\0" * 1_000_000))
    with pytest.raises(FileError, match=r"^https://host/y: train\.en\.gz is refused, unpacked it is larger"):
        check_unpacked_size(path, "https://host/y")
    path.write_bytes(gzip.compress(b"text\n"))
    check_unpacked_size(path, "https://host/y")


def test_a_zip_that_lies_about_a_length_is_refused(tmp_path: Path) -> None:
    content = bytearray(zipped({"a.en": b"x" * 1000}))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):  # both places where the length stands
        at = content.index(mark) + (22 if mark[2] == 3 else 24)
        content[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(FileError, match=r"https://host/x\.tgz"):
        taken(bytes(content), tmp_path / "out", "a.en")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("packing", ["", "gz", "xz", "bz2", "zip"])
def test_no_damage_goes_unseen(packing: str, tmp_path: Path) -> None:
    """Cut off anywhere, or, where there is a checksum, with another byte in the content."""
    lines = "".join(f"line {i * i}\n" for i in range(2000)).encode()
    whole = zipped({"a.en": lines}) if packing == "zip" else tar({"a.en": lines}, packing)
    for cut in (0, 1, 10, 600, len(whole) // 2):
        with pytest.raises(FileError, match=r"the archive https://host/x\.tgz (is damaged|does not hold a\.en)"):
            taken(whole[:cut], tmp_path / "out", "a.en")
    if packing:
        for place in range(60, len(whole) - 60, max(len(whole) // 15, 1)):
            other = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
            try:
                assert taken(other, tmp_path / "out", "a.en") == {"a.en": lines}
            except FileError as error:
                assert "https://host/x.tgz" in str(error)
            (tmp_path / "out" / "a.en").unlink(missing_ok=True)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_page_of_a_host_is_no_archive(tmp_path: Path) -> None:
    page = b"<html>not found</html>" * 100
    with pytest.raises(FileError, match=r"the archive https://host/x\.tgz is damaged \(.+\); get it again"):
        taken(page, tmp_path / "out", "a.en")


def test_what_is_not_in_it_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"the archive https://host/x\.tgz does not hold four\.en"):
        taken(tar(FILES), tmp_path / "out", "one.en", "four.en")


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(tar(FILES))
    with no_file_larger_than(4096), pytest.raises(FileError, match="cannot be written: File too large"):
        unpack(tmp_path / "x.tgz", {"two.en": tmp_path / "two.en"}, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x.tgz"]
