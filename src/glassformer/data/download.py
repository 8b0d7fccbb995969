"""Fetches a set from where it is published, or takes it from a folder: each file checked, then put into its place.

What has come when a transfer fails stays beside as a part, which no reader takes for data; the next `get` goes on
from there. One process fetches a set, others wait for it; a killed one leaves no lock behind.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import file_digest
from pathlib import Path
from urllib.parse import urlsplit

from glassformer.data.find import PACKINGS, check_file, dataset, folder, home, locate_file
from glassformer.data.transfer import NOTE, PART, BytesSoFar, Transfer, TransferError
from glassformer.data.unpacking import check_unpacked_size, is_archive, unpack
from glassformer.errors import FileError, Phrase, reason
from glassformer.files import TEMPORARY, copy_file, disk, remove_leftovers

LOCKS = ".locks"


@dataclass(frozen=True)
class GetWatch:
    """Who is told how the work goes; by default nobody."""

    fetched: BytesSoFar = lambda address, done, total: None
    waiting: Callable[[Path], None] = lambda folder: None  # another process is at work on the same set
    built: Callable[[str, int, bool], None] = lambda corpus, pairs, whole: None


@dataclass
class Got:
    """The files of a set, what is new among them and could not be compared, and the corpora that it was built from."""

    paths: list[Path] = field(default_factory=list)
    uncompared: dict[str, str] = field(default_factory=dict)  # file → SHA-256
    corpora: dict[str, dict[str, int]] = field(default_factory=dict)  # corpus → read, kept, and why the others not


def fetch_set(name: str, source: Path | None, watch: GetWatch) -> Got:
    """All files of a set that are missing, from its addresses, or from a folder that holds what is published there."""
    known, place = dataset(name), folder(name)
    if not known.address and source is None:
        raise FileError("data_no_address", name=name, source=known.source, files=", ".join(known.files), folder=place)
    with one_process(place, watch):  # what another process has fetched meanwhile is not missing any more
        got = Got()
        for addresses, files in _wanted(name).items():
            if source is not None:
                _take(name, source, addresses, files, got)
            else:
                from_one_of(addresses, place, watch, partial(_put, name, files, got))
        got.paths = [path for file in known.files if (path := locate_file(name, file))]
    return got


def _wanted(name: str) -> dict[tuple[str, ...], list[str]]:
    """The files that are missing, by the addresses where each is found."""
    known = dataset(name)
    wanted: dict[tuple[str, ...], list[str]] = {}
    for file in known.files:
        if locate_file(name, file) is None:
            places = [each for each in (known.address, *known.mirrors) if each]
            addresses = tuple(each.format(file=file, stem=file.rpartition(".")[0]) for each in places)
            wanted.setdefault(addresses or (file,), []).append(file)
    return wanted


@contextmanager
def one_process(place: Path, watch: GetWatch) -> Iterator[None]:
    """One process at a time works in the folder of a set; the kernel's lock ends with its process."""
    locks = home() / LOCKS
    with disk(place):
        locks.mkdir(parents=True, exist_ok=True)
        handle = os.open(locks / place.name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with disk(locks):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                watch.waiting(place)
                fcntl.flock(handle, fcntl.LOCK_EX)
            place.mkdir(parents=True, exist_ok=True)
            _tidy(place)
        yield
    finally:
        with suppress(OSError):
            place.rmdir()  # if nothing has come
        os.close(handle)


def _tidy(place: Path) -> None:
    """Remove what a killed process left and nobody can go on from: drafts, and notes about parts that are in place."""
    remove_leftovers(place)
    for note in place.glob(f"{PART}*{NOTE}"):
        if not note.with_name(note.name.removesuffix(NOTE)).exists():
            note.unlink()


def from_one_of(addresses: Sequence[str], place: Path, watch: GetWatch, accept: Callable[[Path, str], object]) -> None:
    """Fetch from the first address that gives what `accept` takes; it raises a FileError for what it does not.

    What came in parts may have come from two contents: what is refused is fetched once more, whole.
    """
    transfers = [Transfer(address, place, watch.fetched) for address in addresses]
    troubles: list[tuple[str, FileError]] = []
    for transfer in transfers:
        trouble = _one(transfer, accept)
        if trouble is None:
            with disk(place):
                for each in transfers:
                    each.drop()
            return
        troubles.append((transfer.address, trouble))
    if len(troubles) == 1:
        raise troubles[0][1]
    raise FileError("data_no_mirror", file=addresses[0].rpartition("/")[2], troubles=_chained(troubles))


def _one(transfer: Transfer, accept: Callable[[Path, str], object]) -> FileError | None:
    """None, or what is wrong with what comes from this address."""
    refused: FileError | None = None
    for _ in range(2):
        try:
            accept(transfer.fetch(), transfer.address)
        except TransferError as trouble:
            return FileError("data_download", address=transfer.address, why=trouble.why, kept=_kept(transfer))
        except FileError as error:
            if error.key == "disk":
                raise
            refused = error
            with disk(transfer.part):
                transfer.drop()
        else:
            return None
    return refused


def _kept(transfer: Transfer) -> Phrase:
    if transfer.have:
        return Phrase("download.kept", (("done", f"{transfer.have:,}"),))
    return Phrase("download.nothing_kept")


def _chained(troubles: Sequence[tuple[str, FileError]]) -> Phrase:
    """All troubles in one value, short: the host, and why."""
    (address, error), *others = troubles
    why = error.values["why"] if error.key == "data_download" else reason(error)
    first = Phrase("download.from_host", (("host", urlsplit(address).netloc), ("why", why)))
    if not others:
        return first
    return Phrase("download.chain", (("first", first), ("others", _chained(others))))


def _put(name: str, files: Sequence[str], into: Got, got: Path, address: str) -> None:
    """What came, checked and in its place: the file itself, or all that are wanted of an archive."""
    if not is_archive(address):
        check_unpacked_size(got, address)
        _place(name, files[0], got, got.suffix if got.suffix in PACKINGS else "", address, into)
        return
    place = folder(name)
    drafts = {file: place / f"{TEMPORARY}{file}" for file in files}
    unpack(got, drafts, address)
    try:
        for file, draft in drafts.items():
            _place(name, file, draft, "", address, into)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _place(name: str, file: str, got: Path, packing: str, address: str, into: Got) -> None:
    known = dataset(name)
    try:
        checked = check_file(name, file, got)
    except FileError as error:
        raise FileError("data_wrong_content", address=address, name=name, file=file, source=known.source) from error
    with disk(got):
        got.replace(folder(name) / f"{file}{packing}")
    if file not in known.sha256:
        into.uncompared[file] = checked.sha256


def _take(name: str, source: Path, addresses: Sequence[str], files: Sequence[str], into: Got) -> None:
    """The same from a folder: the files, packed or not, or what is published at one of the addresses."""
    names = [address.rpartition("/")[2] for address in addresses]
    for file in files:
        if path := find_in(source, [f"{file}{packing}" for packing in PACKINGS]):
            packing = path.suffix if path.suffix in PACKINGS else ""
            draft = folder(name) / f"{TEMPORARY}{file}{packing}"
            copy_file(path, draft)
            try:
                _place(name, file, draft, packing, str(path), into)
            finally:
                draft.unlink(missing_ok=True)
        elif (path := find_in(source, names)) and is_archive(path.name):
            _put(name, [file], into, path, str(path))
        else:
            raise FileError("data_not_in_folder", folder=source, name=name, files=", ".join([file, *names]))


def find_in(source: Path, names: Sequence[str]) -> Path | None:
    """The first file of one of these names in a folder or in the folders below it."""
    if not source.is_dir():
        raise FileError("data_from_no_folder", folder=source)
    with disk(source):
        for name in names:
            if (source / name).is_file():
                return source / name
        below = [path for path in source.rglob("*") if path.name in names and path.is_file()]
    return min(below, key=lambda path: (names.index(path.name), path), default=None)


def sha256_of(path: Path) -> str:
    """The checksum of a file as it lies there."""
    with disk(path), path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
