"""The sets of the catalogue by name and split; each kind of data has its own reader, and a wrong one is refused."""

from __future__ import annotations

from pathlib import Path

from glassformer.data.find import dataset, find, find_split
from glassformer.data.formats import (
    Dialogue,
    Images,
    LabelledTable,
    Series,
    read_dialogue_csv,
    read_images,
    read_labelled_tsv,
    read_prices,
    read_series,
    read_tsv,
)
from glassformer.data.lines import read_lines
from glassformer.data.pairs import Pairs, hashed, read_parallel
from glassformer.errors import InputError

TRAINED_ON = 0.9  # of a text without a split: the first 90 % of its characters, as in nanoGPT


def translation_pairs(name: str, split: str, source: str = "", target: str = "") -> Pairs:
    """The pairs of a translation set: translation_pairs("multi30k", "val", "de", "en") is German into English."""
    paths = _paths(name, split, "parallel", "tsv", "tsv_hashed")
    known = dataset(name)
    source = source or next(each for each in known.languages if each != target)
    target = target or next(each for each in known.languages if each != source)
    for language in (source, target):
        if language not in known.languages or source == target:
            raise InputError("data_language", name=name, language=language, known=", ".join(known.languages))
    first, second = known.languages.index(source), known.languages.index(target)
    if known.format == "parallel":
        return read_parallel(paths[first], paths[second])
    if known.format == "tsv":
        return read_tsv(paths[0], first + 1, second + 1)
    # Split in the order of the file, so that both directions share the same split.
    pairs = hashed(read_tsv(paths[0]), split)
    return pairs if first < second else pairs.reversed()


def labelled(name: str, split: str) -> LabelledTable:
    """Texts and labels, such as nsmc."""
    return read_labelled_tsv(_paths(name, split, "tsv_labelled")[0])


def dialogue(name: str, split: str) -> Dialogue:
    """Questions and answers, such as korean-chatbot."""
    return read_dialogue_csv(_paths(name, split, "csv_dialogue")[0])


def text(name: str, split: str) -> str:
    """One long text, such as tinyshakespeare: train is its first 90 % of characters, val the rest."""
    path = _paths(name, split, "text")[0]
    whole = "".join(f"{line}\n" for line in read_lines(path))
    cut = int(len(whole) * TRAINED_ON)
    return whole[:cut] if split == "train" else whole[cut:]


def series(name: str, split: str) -> Series:
    """Channels over time, such as ett."""
    return read_series(_paths(name, split, "series")[0])


def prices(name: str, split: str) -> dict[str, Series]:
    """Several shares, such as stocks-daily."""
    return read_prices(_paths(name, split, "prices")[0])


def images(name: str, split: str) -> Images:
    """Images and classes, such as fashion-mnist."""
    return read_images(*_paths(name, split, "images"))


def _paths(name: str, split: str, *formats: str) -> list[Path]:
    known = dataset(name)
    if known.format not in formats:
        raise InputError("data_wrong_format", name=name, format=known.format, wanted=", ".join(formats))
    return [find(name, file) for file in find_split(name, split).files]
