"""Files and folders that a command writes where a person said: nothing that is there is lost unasked.

An output is never written over an input, not even with --force; over another file only with --force. A folder is
written into if it is empty or was made by the same command, which leaves a marker in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from glassformer.errors import FileError
from glassformer.files import disk, write_text


def claim(
    path: Path,
    *,
    force: bool = False,
    inputs: Iterable[str | Path] = (),
    ours: Callable[[Path], bool] = lambda path: False,
) -> None:
    """Asked before the work: may this file be written? `ours`: whether what is there is an older one of the same."""
    with disk(path):
        if path.is_dir():
            raise FileError("output_is_folder", path=path)
        if any(_same(path, Path(given)) for given in inputs):
            raise FileError("output_is_input", path=path)
        if path.exists() and not force and not ours(path):
            raise FileError("output_exists", path=path)


def claim_folder(folder: Path, kind: str, *, force: bool = False) -> bool:
    """Asked before the work: may this folder be written? Whether it is one that the same command made before."""
    with disk(folder):
        made = is_made(folder, kind)
        if folder.exists() and not folder.is_dir():
            raise FileError("output_is_file", path=folder)
        if folder.is_dir() and any(folder.iterdir()) and not made and not force:
            raise FileError("output_folder_foreign", path=folder, kind=kind)
    return made


def is_made(folder: Path, kind: str) -> bool:
    return (folder / marker(kind)).is_file()


def mark(folder: Path, kind: str) -> None:
    write_text(folder / marker(kind), f"glassformer {kind}\n", durable=False)


def marker(kind: str) -> str:
    """The name of the file that says which command made a folder."""
    return f".glassformer-{kind}"


def _same(one: Path, other: Path) -> bool:
    """The same file, also under another name; an output inside an input folder is no harm, the folder itself is."""
    if not one.exists() or not other.exists():
        return one.absolute() == other.absolute()
    return one.samefile(other)
