"""Where the images of a run come from: the built-in digits, IDX files, folders of image files, or the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from glassformer.config.options import check_choice
from glassformer.config.recipe import DataConfig
from glassformer.config.values import size_or_zero, wrong_type
from glassformer.data import read
from glassformer.data.corpus import Corpus, Where, from_parts, source_options
from glassformer.data.formats import Images, read_images
from glassformer.data.pictures import Pictures, apart, read_digits, read_folder
from glassformer.errors import FileError, choose

PictureGroups = Mapping[str, Pictures]
TEST = 360  # of the 1,797 digits: one in five


class Wanted(NamedTuple):
    """The data table of a recipe, the size and channels of its model, and how files are resized."""

    data: DataConfig
    size: int
    channels: int
    resample: str = "bilinear"


def picture_corpus(wanted: Wanted) -> Corpus[Pictures]:
    """All images of a run. The same configuration gives the same images in the same order."""
    source = wanted.data.source
    make = choose("data.source", source.kind, PICTURES)
    groups = make(wanted, **check_choice("data.source", source, PICTURES_OPTIONS[source.kind]))
    return Corpus(wanted.data, groups)


def from_digits(config: Wanted, *, test: int = TEST, resize: bool = False) -> Callable[[str], PictureGroups]:
    """scikit-learn's digits, split by the seed of the data; the same people wrote all three parts."""

    def groups(split: str) -> PictureGroups:
        rest, tested = apart(read_digits(), test, config.data.seed)
        learned, kept = apart(rest, config.data.validation, config.data.seed)
        found = {"train": learned, "validation": kept, "test": tested}[split]
        return {split: found.fitted(config.size, config.channels, resize)}

    return groups


def from_files(
    config: Wanted,
    *,
    train: Sequence[str],
    validation: Sequence[str] | None = None,
    test: Sequence[str] | None = None,
    resize: bool = False,
) -> Callable[[str], PictureGroups]:
    """Your own IDX files, plain or packed, each part a pair: ["images", "labels"]."""

    def part(files: Sequence[str]) -> Pictures:
        return as_pictures(read_images(*files), str(files[0])).fitted(config.size, config.channels, resize)

    return _parts(config, part, train, validation, test)


def from_folder(
    config: Wanted,
    *,
    train: str,
    validation: str | None = None,
    test: str | None = None,
    resize: bool = False,
) -> Callable[[str], PictureGroups]:
    """Folders with a sub-folder of image files for each class."""

    def part(path: str) -> Pictures:
        size, channels, resample = config.size, config.channels, config.resample
        return read_folder(path, size=size, channels=channels, resample=resample, resize=resize)

    return _parts(config, part, train, validation, test)


def from_catalogue(config: Wanted, *, name: str, resize: bool = False) -> Callable[[str], PictureGroups]:
    """A set of the catalogue, fashion-mnist for example; part of its training set is held out for validation."""

    def part(split: str) -> Pictures:
        found = as_pictures(read.images(name, split), f"{name} {split}")
        return found.fitted(config.size, config.channels, resize)

    return _parts(config, part, "train", None, "test")


def _parts(
    config: Wanted, read: Callable[[Where], Pictures], train: Where, validation: Where | None, test: Where | None
) -> Callable[[str], PictureGroups]:
    return from_parts(
        read,
        lambda some: apart(some, config.data.validation, config.data.seed),
        train=train,
        validation=validation,
        test={} if test is None else {"test": test},
    )


def as_pictures(images: Images, origin: str) -> Pictures:
    """IDX images, n × height × width, as images of one channel; a number is the label."""
    if images.images.ndim != 3 or images.labels.ndim != 1:
        raise FileError("data_not_idx", path=origin)
    return Pictures(images.images[:, None], [str(label) for label in images.labels.tolist()], origin)


PICTURES: dict[str, Callable[..., Callable[[str], PictureGroups]]] = {
    "digits": from_digits,
    "files": from_files,
    "folder": from_folder,
    "catalogue": from_catalogue,
}


def _two_files(key: str, value: object) -> list[str]:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        raise wrong_type(key, value, "image_files")
    return list(value)


PICTURES_OPTIONS = source_options(
    PICTURES, {"digits": {"test": size_or_zero}, "files": dict.fromkeys(("train", "validation", "test"), _two_files)}
)
