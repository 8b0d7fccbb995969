"""HTML from templates: markup stands in files of its own, and whatever is put into it is escaped.

Line breaks in a template are for its reader. Beside a tag they vanish, between words they are a blank, so that a page
can be laid out line by line without a blank creeping into it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"  # of what shows itself in a notebook
_BESIDE_A_TAG = re.compile(r"(?<=[>}])\s*\n\s*|\s*\n\s*(?=[<{])")
_BETWEEN_WORDS = re.compile(r"\s*\n\s*")


def joined(source: str) -> str:
    """A template without its line breaks."""
    return _BETWEEN_WORDS.sub(" ", _BESIDE_A_TAG.sub("", source))


@cache
def _environment(folder: Path) -> Environment:
    """jinja2 is imported on first use. A name that a template does not know is an error, not an empty text."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str:
        return joined((folder / name).read_text(encoding="utf-8"))

    return Environment(loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined)


def broken(text: str) -> Markup:
    """A text whose line breaks are seen."""
    from markupsafe import Markup, escape

    return escape(text).replace("\n", Markup("<br>"))


def render(template: Path, values: Mapping[str, Any]) -> Markup:
    """The whole template; only what is `Markup` already is taken as it is."""
    from markupsafe import Markup

    return Markup(_environment(template.parent).get_template(template.name).render(values))


def macros(template: Path, values: Mapping[str, Any]) -> Any:
    """The macros of a template, to be called one by one; they see `values`."""
    return _environment(template.parent).get_template(template.name).make_module(dict(values))
