"""A result with its provenance (command, commit, versions, machine), and the tables made from recorded results.

Results are JSON: numbers and codes only. The tables of README and docs are rendered from them in either language,
between two markers; no number is typed by hand.

<!-- table: table3 -->
<!-- end -->

Where a benchmark has a picture, it lies beside the documents, drawn from the same results: pictures/NAME.LANG.svg.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glassformer.bench.catalogue import BENCHMARKS
from glassformer.files import write_text
from glassformer.provenance import commit, machine, versions
from glassformer.show import Column, Table, minus
from glassformer.words import say

PICTURES = Path("docs") / "pictures"

RESULTS = Path(__file__).parent / "results"
_SHOWN = re.compile(r'aria-label="[^"]*"|<title>[^<]*</title>')
_MARKED = re.compile(r"(?P<head><!-- table: (?P<name>[\w-]+) -->\n)(?:.*?)(?P<end><!-- end -->)", re.DOTALL)


@dataclass(frozen=True)
class BenchResult:
    """One run of one benchmark."""

    name: str
    command: str
    numbers: Any  # JSON: what the benchmark's table is made from
    commit: str
    versions: dict[str, str]
    machine: dict[str, Any]  # cores, and the accelerator's name ("": none)

    def source(self, lang: str) -> str:
        """One line on where the numbers come from."""
        accelerator = self.machine["accelerator"] or say("bench.no_accelerator", lang)
        machine = say("bench.machine", lang, cores=self.machine["cores"], accelerator=accelerator)
        versions = ", ".join(f"{package} {version}" for package, version in self.versions.items())
        return say("bench.source", lang, command=self.command, machine=machine, versions=versions, commit=self.commit)

    def write(self, path: Path) -> None:
        """Write under another name first, so that a full disk leaves the old result intact."""
        write_text(path, json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> BenchResult:
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def result(name: str, numbers: Any) -> BenchResult:
    """The numbers, with everything needed to repeat them."""
    return BenchResult(
        name=name,
        command=f"glassformer bench {name}",
        numbers=numbers,
        commit=commit(),
        versions=versions(),
        machine=machine(),
    )


def is_of(name: str, path: Path) -> bool:
    """Whether a file is a record of this benchmark, which a new one replaces."""
    try:
        return BenchResult.read(path).name == name
    except (OSError, ValueError, TypeError):
        return False


def recorded_results(name: str) -> list[BenchResult]:
    """All recorded results of a benchmark, one per machine: NAME.json, NAME.h200.json …"""
    paths = [*RESULTS.glob(f"{name}.json"), *sorted(RESULTS.glob(f"{name}.*.json"))]
    return [BenchResult.read(path) for path in paths]


def markdown(name: str, lang: str) -> str:
    """The table of a benchmark in Markdown, with its provenance."""
    parts = []
    for result in recorded_results(name):
        titles, *rows = BENCHMARKS[name].table(result.numbers, lang)
        table = Table(*map(Column, titles))
        for row in rows:
            table.add(*map(minus, row))
        parts += [table.to_markdown(), "", result.source(lang), ""]
    return "\n".join(parts)


def picture(name: str, lang: str) -> str:
    """The picture of a benchmark as SVG; what it shows and where the numbers come from is said in its label."""
    from glassformer.show.figure import as_svg, finish, standalone
    from glassformer.show.theme import LIGHT, styled

    result, draw = recorded_results(name)[0], BENCHMARKS[name].draw
    assert draw is not None
    about = f"{say(f'bench.{name}_picture', lang)} · {result.source(lang)}"
    with styled(LIGHT, lang):
        figure = finish(draw(result.numbers, LIGHT, lang))
    return standalone(as_svg(figure, name, lang, about, LIGHT), LIGHT)


def numbers_in(svg: str) -> list[str]:
    """What a picture shows: where its numbers come from, and each of them; not where it stands, which fonts decide."""
    return _SHOWN.findall(svg)


def write_pictures(root: Path) -> None:
    """Those of the benchmarks' pictures in the documents of a checkout whose numbers are others now."""
    for name in (name for name, bench in BENCHMARKS.items() if bench.draw is not None):
        for lang in ("en", "ko"):
            path, made = root / PICTURES / f"{name}.{lang}.svg", picture(name, lang)
            if not path.is_file() or numbers_in(path.read_text(encoding="utf-8")) != numbers_in(made):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text(path, made, durable=False)


def render(text: str, lang: str) -> str:
    """A document with every marked table filled in."""
    return _MARKED.sub(lambda found: found["head"] + markdown(found["name"], lang) + found["end"], text)


def documents(root: Path) -> list[tuple[Path, str]]:
    """Every document that may hold tables, and its language."""
    english = [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "adr").glob("*.md"))]
    english += sorted((root / "docs" / "en").glob("**/*.md"))
    korean = [root / "README.ko.md", *sorted((root / "docs" / "ko").glob("**/*.md"))]
    return [(path, "en") for path in english] + [(path, "ko") for path in korean]
