"""Writing that survives a power cut: under another name, synced, renamed. Errors of the disk become one line."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import FileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPORARY = ".tmp-"  # before the name of a file or folder that is being written or removed


@contextmanager
def disk(path: Path) -> Iterator[None]:
    """Turns a full disk, a read-only folder or a missing permission into one line with the path and the reason."""
    try:
        yield
    except OSError as error:
        raise FileError("disk", path=path, why=error.strerror or str(error)) from error


def sync(path: Path) -> None:
    """Makes sure that the content of a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_piece(file: RawIOBase, piece: bytes) -> None:
    """The whole of a piece, into a file opened with buffering=0: nothing waits in memory to fail when it is closed."""
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def write_bytes(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write the whole file or leave the old one, never half of it. All files are written through this function."""
    write_parts(path, [content], durable=durable)


def write_parts(path: Path, parts: Iterable[bytes | memoryview], *, durable: bool = True) -> None:
    """The same for a file that is larger than the memory: part by part."""
    draft = path.with_name(TEMPORARY + path.name)
    with disk(path):
        try:
            with draft.open("wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            draft.replace(path)
            if durable:
                sync(path.parent)
        finally:
            draft.unlink(missing_ok=True)


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    write_bytes(path, text.encode("utf-8"), durable=durable)


def copy_file(source: Path, path: Path) -> None:
    """The same content in another place, however large: never half of it."""
    draft = path.with_name(TEMPORARY + path.name)
    with disk(path):
        try:
            shutil.copyfile(source, draft)
            sync(draft)
            draft.replace(path)
            sync(path.parent)
        finally:
            draft.unlink(missing_ok=True)


def write_figure(path: Path, figure: Figure, form: str = "png", *, dots: int = 110, durable: bool = True) -> None:
    """Write a matplotlib figure with `dots` per inch; no window system is needed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    image = BytesIO()
    figure.savefig(image, format=form, dpi=dots)
    write_bytes(path, image.getvalue(), durable=durable)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    write_text(path, json.dumps(without_nan(value), ensure_ascii=False, indent=1) + "\n", durable=durable)


def without_nan(value: Any) -> Any:
    """NaN and infinity become null, because JSON does not have them."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {key: without_nan(item) for key, item in value.items()}
        case list() | tuple():
            return [without_nan(item) for item in value]
    return value


def read_json(path: Path) -> Any:
    """The value in a file; raises an error that names the file if it is not JSON."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:  # also: not UTF-8
        raise FileError("not_json", path=path) from error


def remove_folder(folder: Path) -> None:
    """Remove a folder, renaming it first: a folder that is half removed must not look like a whole one."""
    with disk(folder):
        gone = folder.with_name(f"{TEMPORARY}gone-{folder.name}")
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
        shutil.rmtree(gone)


def remove_leftovers(folder: Path) -> list[str]:
    """Remove what a killed process left half written; return the names."""
    names = sorted(path.name for path in folder.glob(TEMPORARY + "*"))
    with disk(folder):
        for name in names:
            path = folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    return names
