from __future__ import annotations

import pytest

from glassformer.textbook.breaks import JOINER, kept


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
    for html in (
        '<pre tabindex="0"><code>glassformer claims --fresh  # 50%입니다</code></pre>',
        "<svg><text>50%입니다</text></svg>",
        '<p title="50%입니다">a</p>',
    ):
        assert kept(html) == html
