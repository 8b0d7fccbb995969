from __future__ import annotations

from glassformer.textbook.prose import html, line


def test_foreign_markup_is_shown_not_obeyed() -> None:
    assert "<script>" not in html("<script>alert(1)</script>")
    assert html("`<b>`").count("&lt;b&gt;") == 1


def test_headings_begin_where_they_shall() -> None:
    assert html("# a\n\n## b", level=4) == "<h4>a</h4>\n<h5>b</h5>\n"
    assert html("### a\n\n###### b", level=5) == "<h5>a</h5>\n<h6>b</h6>\n"


def test_a_table_has_a_box_of_its_own() -> None:
    made = html("| a |\n|---|\n| b |")
    assert made.startswith('<div class="scroll" tabindex="0" role="group"><table>') and made.endswith(
        "</table></div>\n"
    )


def test_the_name_of_a_lesson_leads_to_it() -> None:
    assert '<a href="#scaled_scores"><small>5.2</small>&nbsp;<code>scaled_scores</code></a>' in html(
        "see `scaled_scores`"
    )
    assert html("`other`") == "<p><code>other</code></p>\n"


def test_marks_are_replaced_in_and_out_of_paragraphs() -> None:
    inserts = {"\ue000a\ue001": "<table></table>", "\ue000b\ue001": "<b>x</b>"}
    made = html("\ue000a\ue001\n\n- \ue000b\ue001", inserts=inserts)
    assert made == "<table></table>\n<ul>\n<li><b>x</b></li>\n</ul>\n"


def test_code_and_lines() -> None:
    assert html("```sh\nls <x>\n```") == '<pre tabindex="0"><code>ls &lt;x&gt;\n</code></pre>\n'
    assert line("*a* `b`") == "<em>a</em> <code>b</code>"
