"""What --help shows is whole in every width: no option, command or word is cut."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from glassformer.words import LANGUAGES
from marks import first_is_fast
from once import once

WIDTHS = (60, 80, 100)
ALL = 1000
SCRIPT = f"""
import io, json, os, sys
from contextlib import redirect_stdout
from glassformer.cli.app import main
from glassformer.cli.commands import GROUPS, whole_command
group = whole_command()
names = ["", *(name for members in GROUPS.values() for name in members)]
found = {{}}
for name in names:
    command = group.commands[name] if name else group
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    typed = [each for one in shown for each in (*one.opts, *one.secondary_opts) if each.startswith("-")]
    found[name] = {{"typed": typed + (names[1:] if not name else [])}}
    for columns in {(*WIDTHS, ALL)}:
        os.environ["COLUMNS"] = str(columns)
        with redirect_stdout(io.StringIO()) as out:
            try:
                main([*([name] if name else []), "--help"])
            except SystemExit as stop:
                assert stop.code == 0
        found[name][columns] = out.getvalue()
print(json.dumps(found))
"""


@cache
def helps(lang: str) -> dict[str, dict[str, Any]]:
    """Command → its help in every width, and what one types of it. In a process of its own: help has one language."""
    environment = {**os.environ, "GLASSFORMER_LANG": lang}

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8") as out:
            subprocess.run([sys.executable, "-c", SCRIPT], stdout=out, env=environment, check=True)

    found: dict[str, dict[str, Any]] = json.loads(once(f"helps-{lang}", write).read_text(encoding="utf-8"))
    return found


def words(text: str) -> set[str]:
    return set(re.sub("[╭╮╰╯│─]", " ", text).split())


@pytest.mark.slow
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("lang", first_is_fast(LANGUAGES))
def test_no_help_is_cut_in_any_width(lang: str, columns: int) -> None:
    found = helps(lang)
    assert len(found) > 20
    cut = {name: sorted(words(each[str(columns)]) - words(each[str(ALL)])) for name, each in found.items()}
    assert not {name: parts for name, parts in cut.items() if parts}


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("lang", first_is_fast(LANGUAGES))
def test_what_one_types_is_there_whole(lang: str, columns: int) -> None:
    for name, each in helps(lang).items():
        there = words(each[str(columns)].replace(",", " "))
        assert not [typed for typed in each["typed"] if typed not in there], name
        assert max(map(len, each[str(columns)].splitlines())) <= columns, name
