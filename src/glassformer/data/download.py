"""Fetches a set from where it is published: each file under another name, checked, then renamed into its place."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO
from urllib.error import HTTPError
from urllib.request import urlopen

from glassformer.data.find import check_file, dataset, folder, locate_file
from glassformer.errors import FileError

DownloadProgress = Callable[[str, int, int | None], None]  # address, bytes so far, bytes in all if known
PATIENCE = 30.0  # seconds without a byte
PIECE = 1 << 16


def get(name: str, progress: DownloadProgress = lambda address, done, total: None) -> list[Path]:
    """Fetch all missing files of a set. A file that is incomplete or wrong leaves nothing behind."""
    known, place = dataset(name), folder(name)
    if not known.address:
        raise FileError("data_no_address", name=name, source=known.source, files=", ".join(known.files), folder=place)
    wanted: dict[str, list[str]] = {}
    for file in known.files:
        if locate_file(name, file) is None:
            address = known.address.format(file=file, stem=file.rpartition(".")[0])
            wanted.setdefault(address, []).append(file)
    place.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=place, prefix=".get-") as beside:
        for address, files in wanted.items():
            got = Path(beside) / address.rpartition("/")[2]
            _fetch(address, got, progress)
            for file in files:
                _put(name, file, _unpacked(got, file, address), address)
    return [path for file in known.files if (path := locate_file(name, file))]


def _fetch(address: str, path: Path, progress: DownloadProgress) -> None:
    try:
        with urlopen(address, timeout=PATIENCE) as answer, path.open("wb") as file:
            size = answer.headers.get("Content-Length", "")
            total = int(size) if size.isdigit() else None
            done = 0
            while piece := answer.read(PIECE):
                file.write(piece)
                done += len(piece)
                progress(address, done, total)
            _settle(file)
    except HTTPError as error:
        error.close()
        raise FileError("data_download", address=address, why=f"HTTP {error.code}") from error
    except (HTTPException, OSError) as error:  # no such host, refused, cut off, timed out, or the disk is full
        why = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise FileError("data_download", address=address, why=str(why)) from error
    if total is not None and done != total:
        raise FileError("data_truncated", address=address, done=done, total=total)


def _unpacked(got: Path, file: str, address: str) -> Path:
    """The file itself, out of its archive if it came in one. Only that one member is written."""
    if not address.endswith((".tar.gz", ".tgz")):
        return got
    try:
        with tarfile.open(got) as archive:
            members = (each for each in archive if each.isfile() and Path(each.name).name == file)
            member = archive.extractfile(next(members))
            assert member is not None
            path = got.with_name(file)
            with path.open("wb") as whole:
                shutil.copyfileobj(member, whole)
                _settle(whole)
    except (tarfile.TarError, EOFError, StopIteration) as error:
        raise FileError("data_not_in_archive", address=address, file=file) from error
    return path


def _put(name: str, file: str, got: Path, address: str) -> None:
    try:
        check_file(name, file, got)
    except FileError as error:
        source = dataset(name).source
        raise FileError("data_wrong_content", address=address, name=name, file=file, source=source) from error
    packing = got.suffix if got.suffix in (".gz", ".xz") else ""
    got.replace(folder(name) / f"{file}{packing}")


def _settle(file: BinaryIO) -> None:
    """Sync the file to the disk: the new name must never belong to half a file."""
    file.flush()
    os.fsync(file.fileno())
