"""Writing that survives a power cut: under another name, synced, renamed. Whatever the disk says is one line."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import FileError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPORARY = ".tmp-"  # in front of a name that is not yet, or no longer, what it says


@contextmanager
def disk(path: Path) -> Iterator[None]:
    """A full disk, a read-only folder, a missing permission: the same line, which names the path and the reason."""
    try:
        yield
    except OSError as error:
        raise FileError("disk", path=path, why=error.strerror or str(error)) from error


def sync(path: Path) -> None:
    """What was written to a file, or which names a folder holds, is on the disk when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, content: bytes, *, durable: bool = True) -> None:
    """The whole file or the old one, never half of it: every file that is written goes through here."""
    draft = path.with_name(TEMPORARY + path.name)
    with disk(path):
        try:
            with draft.open("wb") as file:
                file.write(content)
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


def write_figure(path: Path, figure: Figure, form: str = "png", *, dots: int = 110, durable: bool = True) -> None:
    """A picture of matplotlib, with so many `dots` to an inch; no window system is needed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    image = BytesIO()
    figure.savefig(image, format=form, dpi=dots)
    write_bytes(path, image.getvalue(), durable=durable)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    write_text(path, json.dumps(without_nan(value), ensure_ascii=False, indent=1) + "\n", durable=durable)


def without_nan(value: Any) -> Any:
    """JSON knows neither NaN nor infinity: null in their place, so that every reader can read it."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {key: without_nan(item) for key, item in value.items()}
        case list() | tuple():
            return [without_nan(item) for item in value]
    return value


def read_json(path: Path) -> Any:
    """The value in a file; a file that is not JSON is one line that names it."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:  # also: not UTF-8
        raise FileError("not_json", path=path) from error


def remove_folder(folder: Path) -> None:
    """Under another name first: a folder that is half removed must not look like a whole one."""
    with disk(folder):
        gone = folder.with_name(f"{TEMPORARY}gone-{folder.name}")
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
        shutil.rmtree(gone)


def remove_leftovers(folder: Path) -> list[str]:
    """What a killed process left half written, by name; gone when this returns."""
    names = sorted(path.name for path in folder.glob(TEMPORARY + "*"))
    with disk(folder):
        for name in names:
            path = folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    return names
