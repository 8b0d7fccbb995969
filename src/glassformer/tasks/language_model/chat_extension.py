"""{% generation %} … {% endgeneration %} marks the model's own answers; in a prompt the tag has no effect."""

from __future__ import annotations

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser


class GenerationTag(Extension):
    """Removes the tag and its end, and keeps the text between them."""

    tags: set[str] = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
