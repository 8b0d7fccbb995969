from __future__ import annotations

from glassformer.textbook.languages import marked


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
