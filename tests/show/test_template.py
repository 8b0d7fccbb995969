from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from glassformer.show.template import broken, joined, macros, render


def written(folder: Path, text: str) -> Path:
    path = folder / "a.html"
    path.write_text(text, encoding="utf-8")
    return path


def test_whatever_is_put_in_is_escaped_unless_it_is_markup(tmp_path: Path) -> None:
    path = written(tmp_path, '<p title="{{ x }}">{{ x }}{{ y }}</p>')
    made = render(path, {"x": '<"&', "y": Markup("<br>")})
    assert made == '<p title="&lt;&#34;&amp;">&lt;&#34;&amp;<br></p>'


def test_line_breaks_vanish_beside_tags_and_are_a_blank_between_words() -> None:
    assert joined('<p\n  class="a">\n  one\n  two {{ x }}\n  {% if y %}\n  <b>z</b> !\n  {% endif %}\n</p>\n') == (
        '<p class="a">one two {{ x }}{% if y %}<b>z</b> !{% endif %}</p>'
    )


def test_a_name_that_is_not_given_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError, match="'x' is undefined"):
        render(written(tmp_path, "{{ x }}"), {})


def test_a_macro_is_called_with_values(tmp_path: Path) -> None:
    path = written(tmp_path, "{% macro twice(x) %}{{ x }}{{ y }}{% endmacro %}")
    assert macros(path, {"y": "<"}).twice("a") == "a&lt;"


def test_the_breaks_of_a_text_are_seen() -> None:
    assert broken("a<\nb") == "a&lt;<br>b"


def test_jinja_is_imported_on_first_use() -> None:
    code = "import sys, glassformer.show; sys.exit('jinja2' in sys.modules or 'markupsafe' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
