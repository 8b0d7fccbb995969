"""Builds a set from its published archives: the members that are wanted, cleaned, one corpus after another.

The text goes through line by line, so that memory stays flat. After every STRIDE lines what is written is synced and
noted, and a process that goes on after another was killed writes the same bytes as one that never was.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, Any

from glassformer.data.cleaning import SENTENCES, Fit, cleaned
from glassformer.data.download import GetWatch, Got, find_in, from_one_of, one_process, sha256_of
from glassformer.data.find import MADE, PACKINGS, dataset, folder, locate_file
from glassformer.data.lines import read_lines
from glassformer.data.published import Archive, Build, Portion
from glassformer.data.unpacking import is_archive, unpack
from glassformer.errors import FileError
from glassformer.files import disk, read_json, remove_leftovers, sync, write_json

WORK = ".build"  # in the folder of the set: parts, members and drafts, until the set is whole
STRIDE = 100_000  # lines between two notes
Tally = dict[str, int]  # read, kept, and why the others were not: empty, long, ratio


@dataclass
class Stage:
    """Some corpora that become the files of one split, or of two if every so many pairs are held out."""

    name: str
    portions: tuple[Portion, ...]
    files: tuple[tuple[str, ...], ...]  # of each split, one per language
    fit: Fit | None = None  # None: as published
    each: int = 0

    @property
    def every_file(self) -> list[str]:
        return [file for files in self.files for file in files]


@dataclass
class BuildNote:
    """How far a stage is: enough to go on from there."""

    inputs: list[list[Any]]  # name and size of every file that is read
    rule: str
    portion: int = 0
    line: int = 0  # of this portion, how many are done
    sizes: dict[str, int] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    done: bool = False


def stages(name: str) -> list[Stage]:
    """What is built for a set: what is learned from, then each part that is evaluated on."""
    known = dataset(name)
    build, splits = known.build, known.splits
    assert build is not None
    files = [splits["train"].files] + ([splits["val"].files] if build.each else [])
    training = Stage("train", build.training, tuple(files), build.fit, build.each)
    return [training, *(Stage(split, each, (splits[split].files,)) for split, each in build.evaluated.items())]


def build_set(name: str, source: Path | None, watch: GetWatch) -> Got:
    """Make the missing parts of a set from its archives, which are fetched or taken from a folder."""
    place = folder(name)
    with one_process(place, watch):
        work = place / WORK
        members, drafts = work / "members", work / "drafts"
        with disk(place):
            for each in (members, drafts):
                each.mkdir(parents=True, exist_ok=True)
                remove_leftovers(each)
        record = _record(place)
        record["archives"] |= _record(work)["archives"]  # of a process that was killed before it could record them
        made: list[str] = []
        for stage in stages(name):
            progress = _progress(drafts, stage)
            if not (progress and progress.done):
                if all(locate_file(name, file) for file in stage.every_file):
                    continue
                _check_free(name, stage)
                inputs = Inputs(_build(name), members, source, watch, record["archives"])
                progress = _write(stage, [inputs.of(portion) for portion in stage.portions], drafts, watch)
            _settle(name, stage, progress, drafts, record)
            made += stage.every_file
        with disk(work):
            shutil.rmtree(work)
        paths = [path for file in dataset(name).files if (path := locate_file(name, file))]
        return Got(paths, {file: record["files"][file]["sha256"] for file in made}, record["corpora"] if made else {})


def _build(name: str) -> Build:
    build = dataset(name).build
    assert build is not None
    return build


def _record(place: Path) -> dict[str, Any]:
    """What is known of the files that are there; a record that cannot be read is begun anew."""
    try:
        found = read_json(place / MADE)
    except FileError:
        found = {}
    kinds = ("archives", "corpora", "files")
    found = found if isinstance(found, dict) else {}
    return {kind: found[kind] if isinstance(found.get(kind), dict) else {} for kind in kinds}


def _check_free(name: str, stage: Stage) -> None:
    """Nothing that somebody has put there is overwritten."""
    for file in stage.every_file:
        if path := locate_file(name, file):
            raise FileError("data_half_there", path=path, name=name, files=", ".join(stage.every_file))


@dataclass
class Inputs:
    """Where the corpora come from: files in a folder, members of archives in it, or archives that are fetched."""

    build: Build
    members: Path
    source: Path | None
    watch: GetWatch
    archives: dict[str, str]  # address or name → SHA-256, for the record; noted before the members are there

    def of(self, portion: Portion) -> list[Path]:
        """The files of a corpus, one per language."""
        if self.source is not None:
            return self._from_folder(portion, self.source)
        if missing := self._missing(portion.archive):
            from_one_of(
                portion.archive.addresses,
                self.members.parent,
                self.watch,
                lambda path, address: self._unpack(path, address, missing, address),
            )
        return [self.members / file for file in portion.files]

    def _from_folder(self, portion: Portion, source: Path) -> list[Path]:
        found = [find_in(source, [f"{file}{packing}" for packing in PACKINGS]) for file in portion.files]
        if all(found):
            return [path for path in found if path]
        if missing := self._missing(portion.archive):
            archive = find_in(source, portion.archive.names)
            if archive is None:
                names = ", ".join((*portion.files, *portion.archive.names))
                raise FileError("data_not_in_folder", folder=source, name=portion.name, files=names)
            self._unpack(archive, str(archive), missing, archive.name)
        return [self.members / file for file in portion.files]

    def _missing(self, archive: Archive) -> list[str]:
        """All that is wanted of an archive and not unpacked yet: it is read once."""
        portions = [*self.build.training, *(each for group in self.build.evaluated.values() for each in group)]
        wanted = [file for portion in portions if portion.archive == archive for file in portion.files]
        return [file for file in wanted if not (self.members / file).is_file()]

    def _unpack(self, path: Path, origin: str, wanted: Sequence[str], name: str) -> None:
        assert is_archive(name)
        self.archives[name] = sha256_of(path)
        try:
            write_json(self.members.parent / MADE, {"archives": self.archives})
            unpack(path, {file: self.members / file for file in wanted}, origin)
        except FileError:
            del self.archives[name]
            raise


def _progress(drafts: Path, stage: Stage) -> BuildNote | None:
    """The note of a process before this one, if there is one and it can be read."""
    try:
        found = BuildNote(**read_json(drafts / f"{stage.name}.json"))
    except (FileError, TypeError):
        return None
    if found.done:
        return found
    fits = all(
        (drafts / file).is_file() and (drafts / file).stat().st_size >= size for file, size in found.sizes.items()
    )
    return found if fits and set(found.sizes) == set(stage.every_file) else None


def _write(stage: Stage, paths: Sequence[Sequence[Path]], drafts: Path, watch: GetWatch) -> BuildNote:
    """All pairs of a stage, from where the note of an earlier process ends."""
    inputs = [[path.name, path.stat().st_size] for files in paths for path in files]
    progress, rule = _progress(drafts, stage), f"{stage.fit} {stage.each}"
    if progress is None or (progress.inputs, progress.rule) != (inputs, rule):
        progress = BuildNote(inputs, rule)
    with disk(drafts), ExitStack() as stack:
        outs: dict[str, IO[bytes]] = {}
        for file in stage.every_file:
            path = drafts / file
            path.touch()
            outs[file] = stack.enter_context(path.open("r+b"))
            outs[file].truncate(progress.sizes.get(file, 0))
            outs[file].seek(0, 2)
        for number in range(progress.portion, len(stage.portions)):
            _corpus(stage, number, paths[number], outs, progress, drafts, watch)
        progress.done = True
        _keep(stage, progress, outs, drafts)
    return progress


def _corpus(
    stage: Stage,
    number: int,
    paths: Sequence[Path],
    outs: Mapping[str, IO[bytes]],
    progress: BuildNote,
    drafts: Path,
    watch: GetWatch,
) -> None:
    """One corpus, from the line that is next."""
    portion = stage.portions[number]
    tally = progress.tallies.setdefault(portion.name, {"read": 0, "kept": 0, "empty": 0, "long": 0, "ratio": 0})
    for line, pair in enumerate(islice(aligned(paths, portion.form), progress.line, None), progress.line + 1):
        tally["read"] += 1
        sides = [cleaned(side) for side in pair] if stage.fit else list(pair)
        if stage.fit and (fault := stage.fit.fault(*sides)):
            tally[fault] += 1
        else:
            tally["kept"] += 1
            held = stage.each and sum(each["kept"] for each in progress.tallies.values()) % stage.each == 0
            for file, side in zip(stage.files[1 if held else 0], sides, strict=True):
                outs[file].write(f"{side}\n".encode())
        if line % STRIDE == 0:
            progress.line = line
            _keep(stage, progress, outs, drafts)
            watch.built(portion.name, line, False)
    watch.built(portion.name, tally["read"], True)
    progress.portion, progress.line = number + 1, 0
    _keep(stage, progress, outs, drafts)


def aligned(paths: Sequence[Path], form: str) -> Iterator[tuple[str, str]]:
    """The lines of both sides; raises at the end if one has more than the other."""
    counts = [0, 0]
    for first, second in zip_longest(*(SENTENCES[form](path) for path in paths)):
        counts[0] += first is not None
        counts[1] += second is not None
        if first is not None and second is not None:
            yield first, second
    if counts[0] != counts[1]:
        source, target = paths
        raise FileError("data_counts", source=source, target=target, source_lines=counts[0], target_lines=counts[1])


def _keep(stage: Stage, progress: BuildNote, outs: Mapping[str, IO[bytes]], drafts: Path) -> None:
    """Sync what is written, then note it: the note never says more than is on the disk."""
    for file, out in outs.items():
        out.flush()
        sync(drafts / file)
        progress.sizes[file] = out.tell()
    write_json(drafts / f"{stage.name}.json", asdict(progress))


def _settle(name: str, stage: Stage, progress: BuildNote, drafts: Path, record: dict[str, Any]) -> None:
    """Record the finished files and put them into their places; goes on where a killed process was."""
    place, known, note = folder(name), dataset(name), drafts / f"{stage.name}.json"
    for file in stage.every_file:
        path = drafts / file if (drafts / file).is_file() else place / file
        lines = sum(1 for _ in read_lines(path))
        expected = lines if stage.fit else known.splits[stage.name].rows
        if not lines or lines != expected:
            note.unlink()  # another try begins with what is published by then
            if not lines:
                raise FileError("data_nothing_left", name=name, file=file)
            raise FileError("data_rows", path=path, name=name, found=lines, expected=expected)
        record["files"][file] = {"sha256": sha256_of(path), "lines": lines}
    record["corpora"].update(progress.tallies)
    write_json(place / MADE, record)
    with disk(place):
        for file in stage.every_file:
            if (drafts / file).is_file():
                (drafts / file).replace(place / file)
        sync(place)
        note.unlink()
