"""Every command in every width: no number is cut, no name that one types, and the totals are always there.

What a command prints is held against its own --json: each number printed is one of the document's, after undoing
separators, percent and rounding to the printed digits, or it is marked as rounded (≈).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from rich.cells import cell_len

import small_classifier
import small_forecaster
import small_models
import small_recogniser
import small_translator
import small_writer
from glassformer.cli.app import main
from glassformer.data.catalogue import DATASETS
from glassformer.data.dataset import Dataset, parallel
from glassformer.train.begin import begin
from glassformer.train.loop import train
from glassformer.words import sentences
from tiny_tasks import tiny

WIDTHS = (60, 80, 100, 200)  # and into a pipe, without COLUMNS
BYTES, SECONDS = 2.0**30, (1.0, 1e-3, 60.0, 3600.0, 86400.0)
UNITS = (1.0, 1e-2, BYTES, *SECONDS, 1e3, 1e6, 1e9, 1e12)  # what a printed number may have been divided by
NUMBER = re.compile(r"(?<![\w.,])[+−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\d])")
BORDERS = re.compile(r"[│┃┏┓┗┛┡┩└┘├┤┬┴┼╇┳━─╈╪╞╡]")

EN, DE = b"one\ntwo\nthree\n", b"eins\nzwei\ndrei\n"
THREE = Dataset(
    task="translation",
    format="parallel",
    languages=("en", "de"),
    licence="MIT",
    source="https://example.org",
    splits={"test": parallel("three", ("en", "de"), 3)},
    sha256={"three.en": sha256(EN).hexdigest(), "three.de": sha256(DE).hexdigest()},
)
Document = Any
Read = Callable[..., str]


@dataclass(frozen=True)
class Shown:
    """A command, what its document names and sums up, and numbers that follow from the document without being in it."""

    arguments: tuple[str, ...]
    names: Callable[[Document], list[str]] = lambda _: []
    totals: Callable[[Document], list[int]] = lambda _: []
    derived: Callable[[Document], list[float]] = lambda _: []


# --- the runs, made once ---


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("widths")
    small_translator.trained(home / "translator")
    small_classifier.trained(home / "classifier")
    small_recogniser.trained(home / "recogniser")
    small_writer.trained(home)
    small_forecaster.trained(home / "forecaster")
    small_models.saved(small_models.small("masked_language_model"), home / "masked")
    small_models.saved(small_models.small("features"), home / "features")
    for task in ("masked_language_model", "object_queries"):
        list(train(begin(tiny(task), home / task)))
    small_translator.write_recipe(home / "sweep", steps=2)
    small_forecaster.written(home, small_forecaster.hours(30))
    for name in ("first_image_of_a_series", "second"):
        Image.new("L", (8, 8), 90).save(home / f"{name}.png")
    (home / "data" / "three").mkdir(parents=True)
    for name, text in (("en", EN), ("de", DE)):
        (home / "data" / "three" / f"three.{name}").write_bytes(text)
    return home


# --- every command ---

TEXTS = ("나는 오늘 아침에 학교에 간다", "he goes to school in the morning", "the sea")
SWEEP = ("sweep", "{home}/sweep/small.toml", "--vary", "model.norm_order=pre,post", "--vary",
         "model.activation=relu,gelu", "--out", "{home}/sweep/out")  # fmt: skip


def the_names(document: list[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in document]


def groups(document: dict[str, Any]) -> list[str]:
    return list(document.get("groups", {}))


def cosines(document: dict[str, Any]) -> list[float]:
    rows = torch.tensor(document["embeddings"])
    rows = rows / rows.norm(dim=1, keepdim=True)
    return [*(rows @ rows.T).flatten().tolist(), *range(1, len(rows) + 1)]


def while_running(document: dict[str, Any]) -> list[float]:
    """The memory that is free changes from call to call: by up to 4 GiB while tests run beside this one."""
    return [one + tenth / 10 for one in numbers_in(document) for tenth in range(-40, 41)]


def evaluated(run: str) -> Shown:
    return Shown(("evaluate", f"{{home}}/{run}", "--device", "cpu"), names=groups)


COMMANDS: dict[str, Shown] = {
    "count": Shown(("count", "paper-base"), totals=lambda found: list(found["total"].values())),
    "count of a pass": Shown(
        ("count", "gpt2", "--batch", "8", "--length", "1024"),
        totals=lambda found: [*found["total"].values(), *found["cost_total"].values(), found["memory"]["peak_bytes"]],
    ),
    "count of a step": Shown(
        ("count", "llama3-8b", "--batch", "4", "--decode", "--past", "4096", "--dtype", "bfloat16"),
        totals=lambda found: [*found["total"].values(), found["memory"]["peak_bytes"]],
    ),
    "plan": Shown(
        ("plan", "gpt2-xl", "--tokens", "300B", "--device", "h200", "--devices", "64", "--parallel", "fsdp"),
        totals=lambda found: [found["steps"], found["step_tokens"]],
    ),
    "presets": Shown(
        ("presets",),
        names=the_names,
        totals=lambda found: [each["total"]["parameters"] for each in found],
    ),
    "data list": Shown(("data", "list"), names=the_names),
    "data show": Shown(("data", "show", "three"), names=lambda found: ["three", *found["columns"]]),
    "data check": Shown(("data", "check", "three"), names=lambda found: [file["file"] for file in found["files"]]),
    "trace": Shown(("trace", "paper-base", TEXTS[0])),
    "trace with a target": Shown(("trace", "{home}/translator/small-run", "나는 학교에 간다", "--target", "I go")),
    "compare": Shown(
        ("compare", "{home}/masked/small-masked-language-model", "{home}/features/small-features"),
    ),
    "doctor": Shown(("doctor",), derived=while_running),
    "bench": Shown(
        ("bench", "published-sizes"),
        names=lambda found: [row["preset"] for row in found["numbers"]["rows"]],
        totals=lambda found: [row["counted"] for row in found["numbers"]["rows"]],
    ),
    "bench of runs": Shown(("bench", "published-runs")),
    "lessons": Shown(("lessons",), names=lambda found: [name for each in found for name in (each["name"],
                     *each["claims"])]),
    "lesson": Shown(("lesson", "scaled_scores", "--depth", "deep")),
    "claims": Shown(("claims",), names=lambda found: [each["id"] for each in found]),
    "classify": Shown(("classify", "{home}/classifier/small-run", "영화 안 좋다", "음식 좋다")),
    "fill": Shown(("fill", "{home}/masked/small-masked-language-model", "나는 ___ [MASK].")),
    "recognise": Shown(
        ("recognise", "{home}/recogniser/small-run", "{home}/first_image_of_a_series.png", "{home}/second.png"),
        names=lambda found: [each["input"] for each in found],
    ),
    "forecast": Shown(("forecast", "{home}/forecaster", "{home}/series.csv")),
    "embed": Shown(("embed", "{home}/features/small-features", *TEXTS), derived=cosines),
    "embed of many": Shown(("embed", "{home}/features/small-features", *TEXTS, *"abcdefghij"), derived=cosines),
    "evaluate translation": evaluated("translator/small-run"),
    "evaluate with forensics": Shown(
        ("evaluate", "{home}/translator/small-run", "--forensics", "--beam", "1", "--device", "cpu")
    ),
    "evaluate classification": evaluated("classifier/small-run"),
    "evaluate masked": evaluated("masked_language_model"),
    "evaluate writing": evaluated("writer"),
    "evaluate images": evaluated("recogniser/small-run"),
    "evaluate forecasting": evaluated("forecaster"),
    "evaluate objects": evaluated("object_queries"),
    "sweep": Shown(SWEEP, names=lambda found: [each["name"] for each in found["variants"]]),
}  # fmt: skip


# --- how they are run ---


@pytest.fixture(autouse=True)
def _surroundings(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLASSFORMER_DATA", str(place / "data"))
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(DATASETS, "three", THREE)


# --- what a document holds, and what a text prints ---


def numbers_in(document: Document) -> Iterator[float]:
    match document:
        case bool() | None:
            pass
        case int() | float():
            yield float(document)
        case dict():
            for key, value in document.items():
                yield from numbers_in(str(key))
                yield from numbers_in(value)
        case list():
            yield float(len(document))  # "3 texts"
            for value in document:
                yield from numbers_in(value)
        case str():
            yield from (amount(found) for found in NUMBER.findall(document))


def amount(printed: str) -> float:
    return float(printed.replace(",", "").replace("−", "-"))


def step(printed: str) -> float:
    """What one unit in the last printed digit is worth."""
    digits, _, exponent = printed.replace(",", "").partition("e")
    return float(10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))


def known(printed: str, among: list[float]) -> bool:
    """Whether one of the numbers, in one of the units, is written like this."""
    said, half = amount(printed), 0.5000001 * step(printed)
    significant = len(re.sub(r"[^\d]", "", printed.partition("e")[0]).lstrip("0"))
    return any(
        abs(one / unit - said) <= half
        or (significant >= 3 and one and f"{one / unit:.{significant}g}" == f"{said:.{significant}g}")
        for one in among
        for unit in UNITS
    )


@cache
def in_words(lang: str) -> frozenset[str]:
    """Numbers that stand in the sentences themselves."""
    return frozenset(found for text in sentences(lang).values() for found in NUMBER.findall(text))


def printed_numbers(text: str) -> list[tuple[str, bool]]:
    """Every number, and whether it is marked as rounded."""
    found = NUMBER.finditer(BORDERS.sub(" ", text))
    return [(each[0], each.string[max(0, each.start() - 2) : each.start()] == "≈ ") for each in found]


def words_of(text: str) -> set[str]:
    return {word.strip(",;:.()") for word in BORDERS.sub(" ", text).split()} | set(BORDERS.sub(" ", text).split())


@pytest.fixture
def read(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Read:
    """What a command prints: read(name, lang, columns, more options)."""

    def read(name: str, lang: str, columns: int | None, *more: str) -> str:
        monkeypatch.setenv("GLASSFORMER_LANG", lang)
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns is not None:
            monkeypatch.setenv("COLUMNS", str(columns))
        arguments = [each.replace("{home}", str(place)) for each in COMMANDS[name].arguments]
        with pytest.raises(SystemExit) as stop:
            main([*arguments, "--lang", lang, *more])
        out, err = capsys.readouterr()
        assert stop.value.code in (0, 1), err
        assert out, err
        return str(out)

    return read


def numbers_of(name: str, document: Document) -> list[float]:
    """Everything that the document says, in numbers."""
    return sorted({*numbers_in(document), *COMMANDS[name].derived(document)} - {math.inf, -math.inf})


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_is_one_of_the_document(name: str, lang: str, read: Read) -> None:
    among = numbers_of(name, json.loads(read(name, lang, None, "--json")))
    allowed = in_words(lang) | {found for each in COMMANDS[name].arguments for found in NUMBER.findall(each)}
    printed = {one for one, _ in printed_numbers(read(name, lang, None))}
    missing = [one for one in sorted(printed) if one not in allowed and not known(one, among)]
    assert not missing, f"printed, but not in the document: {missing[:20]}"


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_cut_in_any_width(name: str, lang: str, read: Read) -> None:
    shown, document = COMMANDS[name], json.loads(read(name, lang, None, "--json"))
    among, whole = numbers_of(name, document), read(name, lang, None)
    seen = {one for one, _ in printed_numbers(whole)}
    for columns in WIDTHS:
        text = read(name, lang, columns)
        there = words_of(text)
        cut = {one for one, rounded in printed_numbers(text) if not (rounded or one in seen or known(one, among))}
        assert not cut, f"{columns} columns: {sorted(cut)[:20]}"
        assert "…" not in text or "…" in whole or name.startswith("trace"), f"{columns} columns: something is cut"
        missing = [each for each in shown.names(document) if each not in there]
        assert not missing, f"{columns} columns: not there whole: {missing}"
        missing = [f"{total:,}" for total in shown.totals(document) if f"{total:,}" not in there]
        assert not missing, f"{columns} columns: totals that are not there: {missing}"
        wide = [line for line in text.splitlines() if too_wide(line, columns)]
        assert not wide, f"{columns} columns: too wide: {wide[0]}"


def too_wide(line: str, columns: int) -> bool:
    """A path or a name may be wider than the terminal, by itself in a line."""
    return cell_len(line) > columns and len(BORDERS.sub(" ", line).split()) > 2
