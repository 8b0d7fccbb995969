"""What people call the columns of a table, in English and Korean: which one holds which side, which one the label.

Names are compared without capitals; "text_ko" or "label id" is made of known parts, so it is known too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGES = _names(
    "ko kor korean en eng english de deu ger german fr fra french ja jp jpn japanese zh zho chinese es spa spanish it"
    " ita italian ru rus russian pt por portuguese vi vie vietnamese nl dutch pl polish tr turkish ar arabic"
    " 한국어 한글 영어 일본어 중국어 독일어 프랑스어 스페인어 이탈리아어 러시아어 베트남어"
)
SOURCES = _names("source src original 원문 출발어")
TARGETS = _names("target tgt translation translated 번역 번역문 도착어")
TEXTS = _names(
    "text texts document sentence sentences content contents review reviews comment comments message title body"
    " utterance question query input 문장 텍스트 본문 문서 내용 리뷰 댓글 제목 발화 질문"
)
LABELS = _names(
    "label labels class classes category categories sentiment emotion tag intent topic genre polarity y target"
    " 라벨 레이블 분류 범주 감정 감성 종류 주제 정답"
)
NUMBERS = _names("id ids idx index no number row 번호 순번 아이디")
DATES = _names("date datetime timestamp time day month 날짜 일자 일시 시간 시각")
KNOWN = LANGUAGES | SOURCES | TARGETS | TEXTS | LABELS | NUMBERS | DATES


def parts(name: str) -> set[str]:
    """ "Text_KO" → {"text", "ko"}."""
    return {part for part in re.split(r"[\W_]+", name.casefold()) if part}


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a first line names its columns: all of its cells are known names, each another; one may be empty."""
    known = [cell for cell in cells if parts(cell)]
    return len(known) == len(set(known)) and len(known) >= len(cells) - 1 > 0 and all(parts(c) <= KNOWN for c in known)


def is_called(name: str, *kinds: frozenset[str]) -> bool:
    return any(parts(name) & kind for kind in kinds)


def pair_columns(names: Sequence[str]) -> tuple[int, int] | None:
    """Where source and target stand, as they are called; else the first two that are not the number of a row."""
    source = [i for i, name in enumerate(names) if is_called(name, SOURCES)]
    target = [i for i, name in enumerate(names) if is_called(name, TARGETS)]
    if len(source) == len(target) == 1 and source != target:
        return source[0], target[0]
    rest = [i for i, name in enumerate(names) if not is_called(name, NUMBERS) and parts(name)]
    return (rest[0], rest[1]) if len(rest) >= 2 else None


def label_columns(names: Sequence[str]) -> tuple[int, int] | None:
    """Where text and label stand, as they are called; one that is called neither is taken where only it is left."""
    label = [i for i, name in enumerate(names) if is_called(name, LABELS)]
    text = [i for i, name in enumerate(names) if is_called(name, TEXTS) and i not in label]
    rest = [i for i, name in enumerate(names) if i not in (*label, *text) and not is_called(name, NUMBERS)]
    text, label = text or (rest if label else []), label or (rest if text else [])
    return (text[0], label[0]) if len(text) == len(label) == 1 else None
