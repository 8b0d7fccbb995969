from __future__ import annotations

import warnings

import pytest

from glassformer.lessons.catalogue import LESSONS, lesson
from glassformer.textbook.prose import JOINER, _reader, html, kept, line, marked, mathml


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


# --- equations ---


def test_a_word_is_one_name() -> None:
    made = mathml(r"\mathrm{softmax}(x)", "softmax(x)")
    assert "<mi>softmax</mi>" in made
    assert made.startswith('<math aria-label="softmax(x)" ') and 'display="block"' in made


def test_what_is_read_aloud_is_escaped() -> None:
    assert 'aria-label="a &lt; &#34;b&#34;"' in mathml("a", 'a < "b"')


@pytest.mark.parametrize("name", [name for name in LESSONS if lesson(name).equation])
def test_every_equation_is_understood(name: str) -> None:
    """A command that is not known would stand in it with its backslash."""
    found = lesson(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "\\" not in mathml(found.equation, found.formula)


# --- between the tags ---


def test_korean_words_on_an_english_page_say_that_they_are_korean() -> None:
    made = marked('<p title="가">나는 학교에 간다 (“I go”), 가 and 를.</p>', "en")
    assert made == (
        '<p title="가"><span lang="ko">나는 학교에 간다</span> (“I go”), '
        '<span lang="ko">가</span> and <span lang="ko">를.</span></p>'
    )


def test_pictures_and_korean_pages_stay_as_they_are() -> None:
    picture = '<svg role="img"><text>나는</text></svg>'
    assert marked(picture, "en") == picture
    assert marked("<p>나는</p>", "ko") == "<p>나는</p>"


@pytest.mark.parametrize("before", [")", "]", "%", "”"])
def test_a_korean_ending_stays_with_what_it_ends(before: str) -> None:
    assert kept(f"<p>(차이 0.3{before}입니다 {before} 끝</p>") == f"<p>(차이 0.3{before}{JOINER}입니다 {before} 끝</p>"


def test_a_korean_ending_stays_with_a_piece_of_code() -> None:
    assert kept("<code>d_model = 8</code>에서") == f"<code>d_model = 8</code>{JOINER}에서"
    assert kept("<code>d_model = 8</code> 네 평균") == "<code>d_model = 8</code> 네 평균"


def test_a_name_with_hyphens_is_not_cut_at_them() -> None:
    made = kept("<code>glassformer claims pe-linear --fresh</code>")
    assert made == (
        '<code>glassformer claims <span class="whole">pe-linear</span> <span class="whole">--fresh</span></code>'
    )
    long = f"<code>{'ab-' * 20}</code>"
    assert kept(long) == long  # wider than a phone: it may be cut anywhere


def test_blocks_of_code_pictures_and_attributes_stay_as_they_are() -> None:
    for page in (
        '<pre tabindex="0"><code>glassformer claims --fresh  # 50%입니다</code></pre>',
        "<svg><text>50%입니다</text></svg>",
        '<p title="50%입니다">a</p>',
    ):
        assert kept(page) == page


def test_the_reader_of_markdown_is_ready_before_threads_share_it() -> None:
    """A parser puts its rules in order when it is first used, and whoever asks meanwhile finds none."""
    _reader.cache_clear()
    made = _reader()
    assert all(each.__cache__ for each in (made.core.ruler, made.block.ruler, made.inline.ruler, made.inline.ruler2))
