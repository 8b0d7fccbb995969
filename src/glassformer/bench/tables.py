"""Tables of README and docs, rendered from the recorded results between two markers; nobody types a number in.

<!-- table: table3 -->
<!-- end -->
"""

from __future__ import annotations

import re
from pathlib import Path

from glassformer.bench.catalogue import BENCHMARKS
from glassformer.bench.record import RESULTS, BenchResult
from glassformer.show import minus

_MARKED = re.compile(r"(?P<head><!-- table: (?P<name>[\w-]+) -->\n)(?:.*?)(?P<end><!-- end -->)", re.DOTALL)


def recorded(name: str) -> list[BenchResult]:
    """All recorded results of a benchmark: one a machine, NAME.json, NAME.h200.json …"""
    return [
        BenchResult.read(path) for path in sorted(RESULTS.glob(f"{name}.json")) + sorted(RESULTS.glob(f"{name}.*.json"))
    ]


def markdown(name: str, lang: str) -> str:
    """The table of a benchmark in Markdown, with where its numbers come from."""
    parts = []
    for result in recorded(name):
        titles, *rows = BENCHMARKS[name].table(result.numbers, lang)
        lines = [titles, ["---"] * len(titles), *rows]
        parts += ["| " + " | ".join(minus(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]
        parts += ["", result.source(lang), ""]
    return "\n".join(parts)


def render(text: str, lang: str) -> str:
    """A document with every marked table filled in."""
    return _MARKED.sub(lambda found: found["head"] + markdown(found["name"], lang) + found["end"], text)


def documents(root: Path) -> list[tuple[Path, str]]:
    """Every document that may hold tables, and its language."""
    english = [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "adr").glob("*.md"))]
    english += sorted((root / "docs" / "en").glob("**/*.md"))
    korean = [root / "README.ko.md", *sorted((root / "docs" / "ko").glob("**/*.md"))]
    return [(path, "en") for path in english] + [(path, "ko") for path in korean]
