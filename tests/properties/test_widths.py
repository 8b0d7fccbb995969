"""Every command in every width: no number is cut, no name that one types, and the totals are always there.

What a command prints is held against its own --json: each number printed is one of the document's, after undoing
separators, percent and rounding to the printed digits, or it is marked as rounded (≈).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from rich.cells import cell_len
from rich.console import Console

import small_classifier
import small_forecaster
import small_models
import small_recogniser
import small_translator
import small_writer
from glassformer import doctor
from glassformer.cli.app import main
from glassformer.cli.output import print_rich
from glassformer.data.catalogue import DATASETS, Dataset, parallel
from glassformer.lessons.lesson_results import LessonResults
from glassformer.show import Sheet
from glassformer.tasks import evaluation
from glassformer.training.begin import begin
from glassformer.training.loop import train
from glassformer.words import say
from printed import held, numbers, plain, spoken, words
from tiny_tasks import tiny

WIDTHS = (60, 80, 100, 200)  # and into a pipe, without COLUMNS

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


@dataclass(frozen=True)
class Shown:
    """A command, what its document names and sums up, and numbers that follow from the document without being in it."""

    arguments: tuple[str, ...]
    names: Callable[[Document], list[str]] = lambda _: []
    totals: Callable[[Document], list[int]] = lambda _: []
    derived: Callable[[Document], list[float]] = lambda _: []
    units: tuple[str, ...] = ()  # of its columns, where the title says them


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
    for task in ("masked_language_model", "object_queries", "prompted_objects"):
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


def in_larger_units(card: dict[str, Any]) -> list[float]:
    """The size of a trained model in kB and MB."""
    return [card["bytes"] / 1e3, card["bytes"] / 1e6]


def groups(document: dict[str, Any]) -> list[str]:
    """A single group is the whole split, and not named again."""
    return list(document["groups"]) if len(document["groups"]) > 1 else []


def errors_of_runs(document: dict[str, Any]) -> list[float]:
    """What `plan` computes, against what the report states."""
    pairs = (("rate_exact", "rate"), ("rate_common", "rate"), ("rate_default", "rate"), ("gib_computed", "gib"))
    rows = document["numbers"]["rows"]
    return [row[ours] / row[stated] - 1 for row in rows for ours, stated in pairs if row[stated] and row[ours]]


def of_chapters(document: list[dict[str, Any]]) -> list[float]:
    """The chapters are numbered; claims are counted over all lessons."""
    chapters = {each["chapter"] for each in document}
    return [*range(1, len(chapters) + 1), sum(len(each["claims"]) for each in document)]


def of_verdicts(document: list[dict[str, Any]]) -> list[float]:
    """How many claims there are of each verdict, and how many are stale."""
    counts = Counter(each["verdict"] for each in document)
    return [0, *counts.values(), sum(each["stale"] for each in document)]


def first_cells(text: str) -> list[str]:
    """The first column of the tables of a Markdown text."""
    found = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|") and "---" not in line]
    assert found, "no table in it"
    return found


def against_exact(document: dict[str, Any]) -> list[float]:
    counted = document["flops_per_token"]
    return [flops / counted["exact"] for flops in counted.values()]


def behind_n_grams(document: dict[str, Any]) -> list[float]:
    """How far n-grams are behind, and half of the context, which every token has before it."""
    return [
        document["context"] // 2,
        *(document["bits_per_character"] - bits for bits in held(document["n_grams"])),
    ]


def losses_of_gains(document: dict[str, Any]) -> list[float]:
    """A gain of -4 is an error that is larger by 4."""
    return [-gain for gain in held(document["gains"])]


def cosines(document: dict[str, Any]) -> list[float]:
    rows = torch.tensor(document["embeddings"])
    rows = rows / rows.norm(dim=1, keepdim=True)
    return [*(rows @ rows.T).flatten().tolist(), *range(1, len(rows) + 1)]


def evaluated(run: str, *options: str, derived: Callable[[Document], list[float]] = lambda _: []) -> Shown:
    arguments = ("evaluate", f"{{home}}/{run}", "--device", "cpu", *options)
    return Shown(arguments, names=groups, derived=derived, units=("%",))


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
        derived=against_exact,
        units=("GiB",),
    ),
    "presets": Shown(
        ("presets",),
        names=the_names,
        totals=lambda found: [each["total"]["parameters"] for each in found],
    ),
    "models": Shown(
        ("models",), names=the_names, derived=lambda found: [size for card in found for size in in_larger_units(card)]
    ),
    "a model's card": Shown(
        ("models", "digits"),
        names=lambda found: [found["name"], found["sha256"]],
        totals=lambda found: [found["parameters"]],
        derived=lambda found: in_larger_units(found),
    ),
    "data list": Shown(("data", "list"), names=the_names),
    "data show": Shown(("data", "show", "three"), names=lambda found: ["three", *found["columns"]]),
    "data check": Shown(("data", "check", "three"), names=lambda found: [file["file"] for file in found["files"]]),
    "trace": Shown(("trace", "paper-base", TEXTS[0])),
    "trace with a target": Shown(("trace", "{home}/translator/small-run", "나는 학교에 간다", "--target", "I go")),
    "compare": Shown(
        ("compare", "{home}/masked/small-masked-language-model", "{home}/features/small-features"),
    ),
    "doctor": Shown(("doctor",)),
    "bench": Shown(
        ("bench", "published-sizes"),
        names=lambda found: [row["preset"] for row in found["numbers"]["rows"]],
        totals=lambda found: [row["counted"] for row in found["numbers"]["rows"]],
        derived=lambda found: [row["counted"] - row["published"] for row in found["numbers"]["rows"]],
    ),
    "bench of runs": Shown(("bench", "published-runs"), derived=errors_of_runs),
    "lessons": Shown(("lessons",), names=lambda found: [name for each in found for name in (each["name"],
                     *each["claims"])], derived=of_chapters),
    "lesson": Shown(("lesson", "scaled_scores", "--depth", "deep")),
    "lesson with a table": Shown(
        ("lesson", "cross_attention_elsewhere", "--depth", "deep"),
        names=lambda found: [cell.split()[0] for cell in first_cells(found["deep"])],
    ),
    "claims": Shown(("claims",), names=lambda found: [each["id"] for each in found], derived=of_verdicts),
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
    "evaluate with forensics": evaluated("translator/small-run", "--forensics", "--beam", "1"),
    "evaluate classification": evaluated("classifier/small-run"),
    "evaluate masked": evaluated("masked_language_model"),
    "evaluate writing": evaluated("writer", derived=behind_n_grams),
    "evaluate images": evaluated("recogniser/small-run"),
    "evaluate forecasting": evaluated("forecaster", derived=losses_of_gains),
    "evaluate objects": evaluated("object_queries"),
    "evaluate prompts": evaluated("prompted_objects"),
    "sweep": Shown(SWEEP, names=lambda found: [each["name"] for each in found["variants"]]),
}  # fmt: skip


# --- how they are run ---


@dataclass(frozen=True)
class Said:
    """What one command said in a language: its document, and its text in any width."""

    document: Document
    text: Callable[[int | None], str]


@pytest.fixture(scope="module")
def said(place: Path) -> Iterator[Callable[[str, str], Said]]:
    """A command runs twice in a language, for its document and for people; what it shows is then drawn in all widths.

    The machine is examined once: how much of its memory is free would change between two calls.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSFORMER_DATA", str(place / "data"))
        patch.setenv("GLASSFORMER_CACHE", str(place / "cache"))
        patch.setitem(DATASETS, "three", THREE)
        patch.setattr(doctor, "examine", once(doctor.examine))
        patch.setattr(LessonResults, "stale", lambda self, name: False)  # to measure a lesson again takes minutes
        yield cache(lambda name, lang: _said(name, lang, place))


def once(measure: Callable[..., Any]) -> Callable[..., Any]:
    """Measured by the first call; every further one gets the same object."""
    found: list[Any] = []

    def measured(*given: Any, **options: Any) -> Any:
        if not found:
            found.append(measure(*given, **options))
        return found[0]

    return measured


def _said(name: str, lang: str, place: Path) -> Said:
    arguments = [each.replace("{home}", str(place)) for each in COMMANDS[name].arguments]
    with pytest.MonkeyPatch.context() as patch:  # each evaluation of a run is counted, and the count printed
        patch.setattr(evaluation, "evaluate", once(evaluation.evaluate))
        document, _ = _called([*arguments, "--json"], lang)
        whole, sheets = _called(arguments, lang)
    assert _drawn(sheets, lang, None) in (whole, ""), "printed by something else than print_rich"

    def text(columns: int | None) -> str:
        drawn = _drawn(sheets, lang, columns) or whole  # bare lines for other programs know no width
        return drawn.replace(str(place), "PLACE")

    return Said(json.loads(document.replace(str(place), "PLACE")), text)


def _called(arguments: list[str], lang: str) -> tuple[str, list[Sheet]]:
    """What a command prints into a pipe, and the sheets of which it is drawn."""
    sheets: list[Sheet] = []
    draw = Console.print

    def kept(self: Console, *shown: Any, **options: Any) -> None:
        sheets.extend(each for each in shown if isinstance(each, Sheet))
        draw(self, *shown, **options)

    with _terminal(lang, None) as (patch, out), redirect_stderr(StringIO()) as err:
        patch.setattr(Console, "print", kept)
        with pytest.raises(SystemExit) as stop:
            main([*arguments, "--lang", lang])
    assert stop.value.code in (0, 1), err.getvalue()
    assert out.getvalue(), err.getvalue()
    return out.getvalue(), sheets


def _drawn(sheets: list[Sheet], lang: str, columns: int | None) -> str:
    with _terminal(lang, columns) as (_, out):
        for sheet in sheets:
            print_rich(*sheet.parts)
    return out.getvalue()


@contextmanager
def _terminal(lang: str, columns: int | None) -> Iterator[tuple[pytest.MonkeyPatch, StringIO]]:
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setenv("GLASSFORMER_LANG", lang)
        patch.delenv("COLUMNS", raising=False)
        if columns is not None:
            patch.setenv("COLUMNS", str(columns))
        yield patch, out


def numbers_of(name: str, document: Document) -> list[float]:
    """Everything that the document says, in numbers."""
    return sorted({*held(document), *COMMANDS[name].derived(document)} - {math.inf, -math.inf})


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_is_one_of_the_document(name: str, lang: str, said: Callable[[str, str], Said]) -> None:
    shown, found = COMMANDS[name], said(name, lang)
    among = numbers_of(name, found.document)
    allowed = spoken(found.text(None), lang) | {each.said for given in shown.arguments for each in numbers(given)}
    printed = {one for one in numbers(found.text(None)) if one.said not in allowed}
    missing = sorted(f"{one.said} {one.unit}" for one in printed if not one.among(among, shown.units))
    assert not missing, f"printed, but not in the document: {missing[:20]}"


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_cut_in_any_width(name: str, lang: str, said: Callable[[str, str], Said]) -> None:
    shown, found = COMMANDS[name], said(name, lang)
    among, whole = numbers_of(name, found.document), found.text(None)
    exact, wholes = {one.said for one in numbers(whole)}, words(whole) | notes(lang)
    for columns in WIDTHS:
        text = found.text(columns)
        there = words(text)
        here = {one.said for one in numbers(text) if not one.rounded}
        assert here <= exact, f"{columns} columns: numbers that nobody wrote: {sorted(here - exact)[:20]}"
        wrong = [one.said for one in numbers(text) if one.rounded and not one.among(among)]
        assert not wrong, f"{columns} columns: rounded wrongly: {wrong}"
        if not gives_way(text, lang):
            assert here == exact, f"{columns} columns: gone without a word: {sorted(exact - here)[:20]}"
        rounded = {one.said for one in numbers(text) if one.rounded}
        parted = [word for word in there - rounded - wholes if not is_part(word, wholes)]
        assert not parted, f"{columns} columns: words that are cut: {sorted(parted)[:20]}"
        missing = [each for each in shown.names(found.document) if not is_named(each, text)]
        assert not missing, f"{columns} columns: not there whole: {missing}"
        missing = [f"{total:,}" for total in shown.totals(found.document) if f"{total:,}" not in there]
        assert not missing, f"{columns} columns: totals that are not there: {missing}"
        wide = [line for line in text.splitlines() if too_wide(line, columns)]
        assert not wide, f"{columns} columns: too wide: {wide[0]}"


def gives_way(text: str, lang: str) -> bool:
    """Whether it says that columns are left out, numbers rounded or a series shortened."""
    left_out = say("table.dropped", lang, columns="\n").split("\n")[0].split()[0]
    return left_out in text.split() or "≈ " in text or "…" in text


def notes(lang: str) -> set[str]:
    """What only stands below a narrow table."""
    said = words(say("table.dropped", lang, columns="")) | words(say("table.rounded", lang))
    return said | {"≈", "…", *"TGMk"}


def is_part(word: str, wholes: set[str]) -> bool:
    """A formula may go on below: after × or +."""
    formulas = [each for each in wholes if re.search("[×+]", each)]
    return any(word in each and (word[-1] in "×+" or each.endswith(word)) for each in formulas)


def is_named(name: str, text: str) -> bool:
    """In one line, and not as a part of a longer name."""
    return re.search(rf"(?<!\S){re.escape(name)}(?![\w-])", text) is not None


def too_wide(line: str, columns: int) -> bool:
    """A path or a name may be wider than the terminal, by itself in a line."""
    return cell_len(line) > columns and len(plain(line).split()) > 2
