"""What commands print: JSON for programs, tables for people; colours only on a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any


def print_json(value: Any) -> None:
    """One JSON document on stdout, Hangul as Hangul, never NaN."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def print_rich(*values: Any) -> None:
    """Tables and texts. Into a pipe or a file the table gets all the width it wants."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False, soft_wrap=False)
    for value in values:
        console.print(value)
