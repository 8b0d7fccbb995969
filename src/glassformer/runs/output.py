"""Files and folders that a command writes: nothing is overwritten unless the user asks for it.

An output is never written over an input, not even with --force; over another file only with --force. A folder is
written into if it is empty or was made by the same command, which leaves a marker in it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from glassformer.errors import FileError
from glassformer.files import TEMPORARY, disk, remove_folder, sync, write_text


def claim(
    path: Path,
    *,
    force: bool = False,
    inputs: Iterable[str | Path] = (),
    ours: Callable[[Path], bool] = lambda path: False,
) -> None:
    """Called before the work: may this file be written? `ours`: whether the file there is an older output of ours.

    A new file inside an input folder does no harm; a file that exists there belongs to the input.
    """
    with disk(path):
        if path.is_dir():
            raise FileError("output_is_folder", path=path)
        if any(_same(path, given) or (path.exists() and _inside(path, given)) for given in map(Path, inputs)):
            raise FileError("output_is_input", path=path)
        if path.exists() and not force and not ours(path):
            raise FileError("output_exists", path=path)


def claim_folder(folder: Path, kind: str, *, force: bool = False, inputs: Iterable[str | Path] = ()) -> bool:
    """Called before the work: may this folder be written? Returns whether the same command made it before."""
    read = [Path(given) for given in inputs]
    with disk(folder):
        made = is_made(folder, kind)
        if folder.exists() and not folder.is_dir():
            raise FileError("output_is_file", path=folder)
        if any(_same(folder, given) for given in read):
            raise FileError("output_is_input", path=folder)
        if folder.is_dir() and any(folder.iterdir()) and not made:
            if not force:
                raise FileError("output_folder_foreign", path=folder, kind=kind)
            if any(_inside(folder, given) or _inside(given, folder) for given in read):
                raise FileError("output_is_input", path=folder)
    return made


@contextmanager
def drafted(folder: Path, kind: str, *, force: bool = False, inputs: Iterable[str | Path] = ()) -> Iterator[Path]:
    """A draft beside the folder, to be filled: when complete it takes its place, and if the work fails it is removed.

    In a folder that is not empty, the older output of the same command is removed; other files stay.
    """
    claim_folder(folder, kind, force=force, inputs=inputs)
    with disk(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = folder.with_name(TEMPORARY + folder.name)
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir()
            yield draft
            mark_folder(draft, kind, sorted(path.name for path in draft.iterdir()))
            if folder.is_dir() and any(folder.iterdir()):
                _renew(folder, draft, kind)
            else:
                draft.rename(folder)
            sync(folder.parent)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _renew(folder: Path, draft: Path, kind: str) -> None:
    """Replace entry by entry. The marker comes first: if this is interrupted, the folder can still be renewed."""
    gone = written_names(folder, kind)
    (draft / marker(kind)).replace(folder / marker(kind))
    for name in sorted(gone | {path.name for path in draft.iterdir()}):
        old, new = folder / name, draft / name
        if old.is_dir() and not old.is_symlink():
            remove_folder(old)
        elif not new.exists() or new.is_dir():
            old.unlink(missing_ok=True)
        if new.exists():
            new.replace(old)
    sync(folder)


def is_made(folder: Path, kind: str) -> bool:
    return (folder / marker(kind)).is_file()


def mark_folder(folder: Path, kind: str, names: Iterable[str] = ()) -> None:
    """Write the marker. `names`: what the command has written there."""
    write_text(folder / marker(kind), "".join(f"{line}\n" for line in (f"glassformer {kind}", *names)), durable=False)


def written_names(folder: Path, kind: str) -> set[str]:
    """The names that the command wrote into the folder, without any that lead out of it."""
    if not is_made(folder, kind):
        return set()
    names = (folder / marker(kind)).read_text(encoding="utf-8", errors="replace").splitlines()[1:]
    return {name for name in names if name not in ("", "..") and Path(name).name == name}


def marker(kind: str) -> str:
    """The name of the file that says which command made a folder."""
    return f".glassformer-{kind}"


def _inside(one: Path, other: Path) -> bool:
    return other.resolve() in one.resolve().parents


def _same(one: Path, other: Path) -> bool:
    """The same file or folder, also under another name."""
    if not one.exists() or not other.exists():
        return one.absolute() == other.absolute()
    return one.samefile(other)
