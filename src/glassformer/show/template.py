"""HTML from templates: markup is in separate files, and inserted values are escaped.

Line breaks in a template are for readers of the template: next to a tag they vanish, between words they become a
space, so that no unwanted space gets into a page.
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

TEMPLATES = Path(__file__).parent / "templates"  # for results in a notebook
_BESIDE_A_TAG = re.compile(r"(?<=[>}])\s*\n\s*|\s*\n\s*(?=[<{])")
_BETWEEN_WORDS = re.compile(r"\s*\n\s*")


def joined(source: str) -> str:
    """A template with its line breaks resolved."""
    return _BETWEEN_WORDS.sub(" ", _BESIDE_A_TAG.sub("", source))


@cache
def _environment(folder: Path) -> Environment:
    """jinja2 is imported on first use. An undefined name in a template is an error, not an empty string."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str:
        return joined((folder / name).read_text(encoding="utf-8"))

    return Environment(loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined)


def broken(text: str) -> Markup:
    """A text whose line breaks stay visible."""
    from markupsafe import Markup, escape

    return escape(text).replace("\n", Markup("<br>"))


def render(template: Path, values: Mapping[str, Any]) -> Markup:
    """The filled-in template; values are escaped unless they are `Markup`."""
    from markupsafe import Markup

    return Markup(_environment(template.parent).get_template(template.name).render(values))


def macros(template: Path, values: Mapping[str, Any]) -> Any:
    """The macros of a template, to be called one by one; they see `values`."""
    return _environment(template.parent).get_template(template.name).make_module(dict(values))
