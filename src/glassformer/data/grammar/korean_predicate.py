"""The Korean predicate: modality, negation, honour, tense, speech level and connective endings on one stem."""

from __future__ import annotations

from dataclasses import dataclass

from glassformer.data.grammar import jamo
from glassformer.data.grammar.korean import (
    Stem,
    before_consonant,
    before_eu,
    formal,
    honoured,
    infinitive,
    narrated,
    past,
    polite,
)
from glassformer.data.grammar.pair import Word, suffixed

VERB, ADJECTIVE, EXIST, COPULA = "verb", "adjective", "exist", "copula"
FUTURE = {
    ("plain", False): "것이다",
    ("plain", True): "거니",
    ("casual", False): "거야",
    ("casual", True): "거야",
    ("polite", False): "거예요",
    ("polite", True): "거예요",
    ("formal", False): "것입니다",
    ("formal", True): "것입니까",
}
# modality: (how the lower stem joins, words between, governing stem, its category)
GOVERNED = {
    "progressive": ("고", "", "있", EXIST),
    "want": ("고", "", "싶", ADJECTIVE),
    "want_other": ("고", "싶어", "하", VERB),
    "can": ("ㄹ", "수", "있", EXIST),
    "must": ("야", "", "하", VERB),
    "may": ("도", "", "되", VERB),
    "must_not": ("면", "안", "되", VERB),
    "experience": ("ㄴ", "적이", "있", EXIST),
    "decide": ("기로", "", "하", VERB),
    "start": ("기", "", "시작하", VERB),
    "plan": ("려고", "", "하", VERB),
    "know_how": ("ㄹ", "줄", "알", VERB),
    "like_to": ("는", "것을", "좋아하", VERB),
}
LOWER_HONOUR = ("can", "must", "may", "must_not", "experience")  # 가실 수 있다, 가셔야 한다


@dataclass(frozen=True)
class Chain:
    """Finished words, and the stem that still needs an ending."""

    done: tuple[Word, ...]
    stem: Stem
    category: str
    marks: tuple[str, ...]

    def push(self, text: str, stem: Stem, category: str, *marks: str) -> Chain:
        """Finish the current stem as `text` and continue with another one."""
        return Chain((*self.done, Word(text, self.marks)), stem, category, marks)

    def close(self, text: str) -> list[Word]:
        return [*self.done, Word(text, self.marks)]


def join(stem: Stem, ending: str) -> str:
    """Any ending by its kind: 고 지 기 는 는다 | ㄴ ㄹ 면 려고 러 | 야 도 서."""
    if ending in ("야", "도", "서"):
        return infinitive(stem) + ending
    if ending in ("ㄴ", "ㄹ", "면", "려고", "러", "시"):
        return before_eu(stem, ending)
    return before_consonant(stem, ending)


def honour(chain: Chain, other: str = "") -> Chain:
    """-시-, or the word that replaces it: 먹다 → 드시다."""
    if chain.stem.text == "있" and chain.category == EXIST and other == "":
        return Chain(chain.done, Stem("계시", "honoured"), VERB, chain.marks)
    stem = Stem(other, "honoured") if other else honoured(chain.stem)
    return Chain(chain.done, stem, chain.category, chain.marks)


def govern(chain: Chain, modality: str, path: str, respect: str | None) -> Chain:
    """The chain under a modality; `respect` is None, or the honorific verb of the lower stem (may be empty)."""
    if not modality:
        return chain if respect is None else honour(chain, respect)
    ending, between, governor, category = GOVERNED[modality]
    lower = honour(chain, respect) if respect is not None and modality in LOWER_HONOUR else chain
    mark = f"{path}mod"
    risen = lower.push(join(lower.stem, ending), Stem(governor), category, mark)
    if between:
        risen = Chain((*risen.done, Word(between, (mark,))), risen.stem, category, (mark,))
    return honour(risen) if respect is not None and modality not in LOWER_HONOUR else risen


def negate(chain: Chain, path: str, short: bool, respect: bool) -> Chain:
    """가지 않는다, 안 간다; 갈 수 없다, 간 적이 없다, but 가고 있지 않다."""
    mark = f"{path}neg"
    bare_existence = not chain.done or chain.done[-1].text in ("수", "적이")
    if chain.category == EXIST and chain.stem.text == "있" and bare_existence:
        return Chain(chain.done, Stem("없"), EXIST, (*chain.marks, mark))
    if short:
        return Chain((*chain.done, Word("안", (mark,))), chain.stem, chain.category, chain.marks)
    stem = Stem("않으시", "honoured") if respect else Stem("않")
    return chain.push(before_consonant(chain.stem, "지"), stem, chain.category, mark)


def lack(chain: Chain, path: str, respect: bool, somewhere: bool) -> Chain:
    """Not to be there or not to have: 없다, 없으시다 (has not), 안 계시다 (is not here)."""
    if respect and somewhere:
        return Chain((Word("안", (f"{path}neg",)),), Stem("계시", "honoured"), VERB, chain.marks)
    without = negate(chain, path, short=False, respect=False)
    return honour(without) if respect else without


def final(chain: Chain, tense: str, level: str, question: bool, path: str) -> list[Word]:
    """The sentence's last word: 간다, 갔니, 가요, 갑니다, 갈 것이다."""
    if tense == "future":
        lower = before_eu(chain.stem, "ㄹ")
        return [*chain.close(lower), Word(FUTURE[level, question], (f"{path}fut",))]
    stem = past(chain.stem) if tense == "past" else chain.stem
    category = EXIST if tense == "past" else chain.category
    match level:
        case "casual":
            return chain.close(infinitive(stem))
        case "polite":
            return chain.close(polite(stem))
        case "formal":
            return chain.close(formal(stem, question))
    if question:
        return chain.close(before_consonant(stem, "니"))
    return chain.close(narrated(stem) if category == VERB else stem.text + "다")


def command(chain: Chain, level: str, negative: bool, path: str) -> list[Word]:
    """가라, 가, 가 주세요, 가 주십시오; 가지 마라."""
    if negative:
        ending = {"plain": "마라", "casual": "마", "polite": "마세요", "formal": "마십시오"}[level]
        return [*chain.close(before_consonant(chain.stem, "지")), Word(ending, (f"{path}neg", f"{path}please"))]
    form = infinitive(chain.stem)
    if level in ("plain", "casual"):
        return chain.close(form + "라" if level == "plain" else form)
    asked = "주세요" if level == "polite" else "주십시오"
    if chain.stem.text.endswith("주"):  # 주세요, not 줘 주세요
        return [*chain.done, Word(chain.stem.text[:-1] + asked, (*chain.marks, f"{path}please"))]
    return [*chain.close(form), Word(asked, (f"{path}please",))]


def suggestion(chain: Chain, level: str, negative: bool, path: str) -> list[Word]:
    """가자, 갑시다; 가지 말자."""
    mark = f"{path}lets"
    if negative:
        ending = "맙시다" if level == "formal" else "말자"
        return [*chain.close(before_consonant(chain.stem, "지")), Word(ending, (f"{path}neg", mark))]
    text = before_eu(chain.stem, "ㅂ시다") if level == "formal" else before_consonant(chain.stem, "자")
    return [*chain.done, Word(text, (*chain.marks, mark))]


def attributive(chain: Chain, tense: str, path: str) -> list[Word]:
    """Before a noun: 가는, 간, 갈; 예쁜, 맛있는."""
    if tense == "future":
        return [*chain.done, Word(before_eu(chain.stem, "ㄹ"), (*chain.marks, f"{path}fut"))]
    if tense == "past" and chain.category == VERB:
        return chain.close(before_eu(chain.stem, "ㄴ"))
    if chain.category == ADJECTIVE:
        return chain.close(before_eu(chain.stem, "ㄴ"))
    return chain.close(before_consonant(chain.stem, "는"))


def connective(chain: Chain, joint: str, tense: str, path: str) -> list[Word]:
    """An ending that joins clauses; when, before and after bring a word of their own."""
    mark = f"{path}join"
    stem = past(chain.stem) if tense == "past" and joint in ("but", "when") else chain.stem
    match joint:
        case "when":
            return [*chain.close(before_eu(stem, "ㄹ")), Word("때", (mark,))]
        case "before":
            return [*chain.close(before_consonant(stem, "기")), Word("전에", (mark,))]
        case "after":
            return [*chain.close(before_eu(stem, "ㄴ")), Word("후에", (mark,))]
    ending = {"and": "고", "but": "지만", "because": "서", "if": "면", "purpose": "러"}[joint]
    return [*chain.done, Word(join(stem, ending), (*chain.marks, mark))]


def quoted(chain: Chain, tense: str, path: str) -> list[Word]:
    """What somebody thinks: 간다고, 갔다고, 예쁘다고, 갈 것이라고."""
    mark = f"{path}join"
    if tense == "future":
        return [*chain.close(before_eu(chain.stem, "ㄹ")), Word("것이라고", (f"{path}fut", mark))]
    return suffixed(final(chain, tense, "plain", question=False, path=path), "고", mark)


def copula(word: Word, tense: str, level: str, question: bool, respect: bool) -> Word:
    """이다 on a noun: 학생이다, 의사다, 학생이었어요, 의사예요, 학생입니까."""
    open_end = not jamo.final(word.text)
    if respect:
        stem = Stem("이시", "honoured")
        stem = past(stem) if tense == "past" else stem
        ending = final(Chain((), stem, EXIST, ()), "present", level, question, "")[0].text
        return Word(word.text + ending, word.marks)
    if tense == "past":
        stem = Stem("였" if open_end else "이었")
        ending = final(Chain((), stem, EXIST, ()), "present", level, question, "")[0].text
        return Word(word.text + ending, word.marks)
    match level:
        case "casual":
            ending = "야" if open_end else "이야"
        case "polite":
            ending = "예요" if open_end else "이에요"
        case "formal":
            return Word(word.text + ("입니까" if question else "입니다"), word.marks)
        case _:
            ending = ("" if open_end else "이") + ("니" if question else "다")
    return Word(word.text + ending, word.marks)


def not_copula(tense: str, level: str, question: bool, respect: bool) -> str:
    """아니다, 아니었다, 아니야, 아니에요, 아닙니다."""
    stem = Stem("아니시", "honoured") if respect else Stem("아니")
    if tense == "past":
        stem = past(stem) if respect else Stem("아니었")
    elif not respect and level in ("casual", "polite"):
        return "아니야" if level == "casual" else "아니에요"
    return final(Chain((), stem, EXIST, ()), "present", level, question, "")[0].text
