"""One Korean word for one idea, in every text that a person reads: what is not said, and what is said instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "src" / "glassformer" / "words" / "ko"
TEXTS = [*sorted(WORDS.rglob("*.toml")), *sorted((ROOT / "docs" / "ko").rglob("*.md")), ROOT / "README.ko.md"]
IMAGES_AND_SERIES = (
    "images.toml",
    "forecast.toml",
    "objects.toml",
    "lessons/image_patches.toml",
    "lessons/stock_patches.toml",
    "lessons/cross_attention_elsewhere.toml",
)


@dataclass(frozen=True)
class Term:
    """What must not be written, what is written instead; where (everywhere, if nothing is named)."""

    never: str
    instead: str
    among: tuple[str, ...] = ()


TERMS = (
    Term("매개변수", "파라미터"),
    Term("우회로", "지름길"),
    Term("크로스", "교차"),
    Term(r"(?<![가-힣])주의(?!하|할|해|합|사항)", "어텐션"),  # 주의하세요 is a warning
    Term(r"어텐션의 값(?! 벡터)", "어텐션의 비용"),  # 값 is V
    Term(r"세상의 모델", "공개된 모델 가져오기"),
    Term(r"가장 새(?![가-힣])", "가장 최근"),
    Term(r": 빠졌습니다", "인자가 빠졌습니다"),
    Term(r"곱 둘 중 하나", "행렬 곱은 하나 걸러 하나씩"),
    Term(r"퍼짐과 함께", "평균과 편차를 표와 곡선으로"),
    Term(r"앞말을 받고", "정답 앞부분을 미리 보고"),
    Term(r"크기 조정은", "정규화 통계는"),
    Term(r"잘 고른 헤드|층 all|헤드 mean", "모든 층·헤드의 평균"),
    Term(r"조각(?!가)", "패치", IMAGES_AND_SERIES),  # elsewhere a 조각 is a piece of a word; a 조각가 carves
    Term(r"(?:이미지|그림|시계열|주가|곡선)[^.,|]{0,8}조각", "패치"),
    Term(r"그림(?= 폴더|에 무엇|의 통계)|(?:크기의|크기가 다른|숫자) 그림|같은 그림을 봅", "이미지"),
    Term(r"(?<![\w`./}\[\])|-])-\d[\d.,]*(?![\w-])", "− (U+2212)"),  # a number below nought; not 2024-01-31, [-1], `-1`
    Term("쌍반점", "세미콜론"),
    Term("화소", "픽셀"),
    Term("예제", "예시"),
    Term("단어", "낱말"),
    Term("문자당", "글자당"),
    Term("물체", "객체"),
    Term("타깃", "번역문, target"),
    Term("미니 분류기", "mini-classifier"),
    Term(r"[A-Za-z] 등 ?\(?(?:19|20)\d\d", "외"),  # He 외 2016
    Term("부분 낱말", "서브워드"),
    Term(r"질의", "쿼리"),
    Term(r"그리디", "탐욕 탐색"),
    Term(r"표준편차", "표준 편차"),
    Term(r"검증: (?:loss|accuracy|perplexity)", "손실, 정확도, 퍼플렉시티"),
)


def lines() -> Iterator[tuple[str, int, str]]:
    """Every line of every Korean text that is no program: file, number, line."""
    for path in TEXTS:
        name = str(path.relative_to(WORDS if path.is_relative_to(WORDS) else ROOT))
        program = name == "notebooks/cells.toml"
        fenced = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("```"):
                fenced = "" if fenced else line.removeprefix("```") or "text"
            if not program and fenced not in ("python", "bash", "toml"):
                yield name, number, line


@pytest.mark.many
@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.instead)
def test_korean_texts_say(term: Term) -> None:
    found = [
        f"{name}:{number}: …{line[max(0, hit.start() - 12) : hit.end() + 12]}…"
        for name, number, line in lines()
        if not term.among or name in term.among
        for hit in re.finditer(term.never, line)
    ]
    assert found == []


def test_every_korean_text_is_looked_at() -> None:
    seen = {name for name, _, _ in lines()}
    assert seen >= {"run.toml", "lessons/residual.toml", "pages/glossary.toml", "docs/ko/index.md", "README.ko.md"}
    assert seen >= set(IMAGES_AND_SERIES)


@pytest.mark.parametrize(
    ("never", "wrong", "right"),
    [
        ("주의", "주의의 비율", "어텐션의 비율, 주의하세요, 자유주의"),
        ("가장 새", "가장 새 체크포인트", "가장 새로운 것"),
        ("어텐션의 값", "어텐션의 값", "어텐션의 값 벡터"),
        ("-\\d", "차이 -3.0 %", "차이 −3.0 %, 2024-01-31, ko-en, x[-1], `-1`"),
    ],
)
def test_a_rule_finds_what_it_is_for_and_nothing_else(never: str, wrong: str, right: str) -> None:
    (pattern,) = [term.never for term in TERMS if never in term.never]
    assert re.search(pattern, wrong)
    assert not re.search(pattern, right)
