"""Named files out of an archive, and nothing else: no path of the archive is ever written to.

A member that is a link or a device, that leads out of the archive, that is there twice or that is larger than its
archive can honestly hold is refused in one line.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from glassformer.data.lines import DAMAGED, blocks
from glassformer.errors import FileError, Phrase
from glassformer.files import TEMPORARY, disk, sync, write_piece

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".zip")
PACKERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ": lzma.open, b"BZh": bz2.open}
ZIP = b"PK\x03\x04"
PIECE = 1 << 20
TIMES = 100  # text shrinks to a third or a fourth; zeros, of which bombs are made, to a thousandth
ALWAYS = 1 << 26  # bytes that even the smallest archive may hold
HEADER = 512  # bytes of a member beside its content: a million empty ones are a bomb too
# RuntimeError: a password is asked for; NotImplementedError: a method of packing that Python does not know
BROKEN = (*DAMAGED, tarfile.TarError, zipfile.BadZipFile, RuntimeError, ValueError)


@dataclass(frozen=True)
class Member:
    """One entry of an archive, whatever its kind."""

    name: str
    size: int
    is_file: bool
    open: Callable[[], IO[bytes]]

    @property
    def leads_out(self) -> bool:
        parts = self.name.replace("\\", "/").split("/")
        return not parts[0] or parts[0].endswith(":") or ".." in parts

    def is_called(self, name: str) -> bool:
        """A name with a folder means this member; a name alone means the one file called so, in whatever folder."""
        plain = self.name.removeprefix("./")
        return plain == name if "/" in name else plain.replace("\\", "/").rpartition("/")[2] == name


def is_archive(name: str) -> bool:
    """Whether a file of this name has files in it."""
    return name.endswith(ARCHIVES)


def check_unpacked_size(path: Path, origin: str) -> None:
    """Refuses a packed file that unpacks to far more than text does."""
    with disk(path):
        most = max(ALWAYS, TIMES * path.stat().st_size)
    unpacked = 0
    for piece in blocks(path):
        unpacked += len(piece)
        if unpacked > most:
            why = Phrase("unpacking.too_large", (("limit", f"{most:,}"),))
            raise FileError("data_member", address=origin, member=path.name, why=why)


def unpack(archive: Path, wanted: Mapping[str, Path], origin: str) -> None:
    """Write each wanted file to its place: all of them, or none. `origin` is what an error names."""
    with disk(archive):
        most = max(ALWAYS, TIMES * archive.stat().st_size)
    drafts: dict[str, Path] = {}
    try:
        with _damage(origin), _members(archive, most) as members:
            unpacked = 0
            for member in members:
                unpacked += member.size + HEADER
                if unpacked > most:
                    _refuse(origin, member, Phrase("unpacking.too_large", (("limit", f"{most:,}"),)))
                for name in wanted:
                    if member.is_called(name):
                        _check(member, origin, twice=name in drafts)
                        drafts[name] = wanted[name].with_name(TEMPORARY + wanted[name].name)
                        _write(member, drafts[name], origin)
        if missing := [name for name in wanted if name not in drafts]:
            raise FileError("data_not_in_archive", address=origin, file=", ".join(missing))
        for name, path in wanted.items():
            with disk(path):
                drafts[name].replace(path)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _check(member: Member, origin: str, *, twice: bool) -> None:
    if member.leads_out:
        _refuse(origin, member, Phrase("unpacking.leads_out"))
    if not member.is_file:
        _refuse(origin, member, Phrase("unpacking.no_file"))
    if twice:
        _refuse(origin, member, Phrase("unpacking.twice"))


def _refuse(origin: str, member: Member, why: Phrase) -> None:
    raise FileError("data_member", address=origin, member=member.name, why=why)


def _write(member: Member, draft: Path, origin: str) -> None:
    done = 0
    with disk(draft):
        file = draft.open("wb", buffering=0)
    with file, member.open() as source:
        while piece := source.read(PIECE):
            done += len(piece)
            if done > member.size:
                _refuse(origin, member, Phrase("unpacking.longer", (("size", f"{member.size:,}"),)))
            with disk(draft):
                write_piece(file, piece)
        with disk(draft):
            sync(draft)
    if done != member.size:
        raise EOFError


@contextmanager
def _damage(origin: str) -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        why = str(error) or type(error).__name__
        raise FileError("data_archive_damaged", address=origin, why=why) from error
    except OSError as error:  # bz2 says of damage that it is an OSError
        why = error.strerror or str(error)
        raise FileError("data_archive_damaged", address=origin, why=why) from error


@contextmanager
def _members(archive: Path, most: int) -> Iterator[Iterator[Member]]:
    """All members in their order; by the content, not by the name of the archive."""
    with ExitStack() as stack:
        with archive.open("rb") as file:
            start = file.read(8)
        if start.startswith(ZIP):
            yield _of_zip(stack.enter_context(zipfile.ZipFile(archive)))
            return
        opener = next((opener for mark, opener in PACKERS.items() if start.startswith(mark)), open)
        stream = stack.enter_context(opener(archive, "rb"))
        yield _of_tar(stack.enter_context(tarfile.open(fileobj=stream, mode="r|")))
        left = most
        while left > 0 and (piece := stream.read(PIECE)):  # the checksum of a packed stream is at its end
            left -= len(piece)


def _of_tar(archive: tarfile.TarFile) -> Iterator[Member]:
    for each in archive:
        yield Member(each.name, each.size if each.isreg() else 0, each.isreg(), partial(_content, archive, each))


def _content(archive: tarfile.TarFile, each: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(each)
    assert content is not None
    return content


def _of_zip(archive: zipfile.ZipFile) -> Iterator[Member]:
    for each in archive.infolist():
        kind = each.external_attr >> 28  # of Unix: 8 a file, 10 a link; 0 where the archive was made elsewhere
        is_file = kind in (0, 8) and not each.is_dir()
        yield Member(each.filename, each.file_size, is_file, partial(archive.open, each))
