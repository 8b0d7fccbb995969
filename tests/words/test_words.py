from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import glassformer
from glassformer.words import LANGUAGES, _flatten, language, say, sentences

SOURCE = Path(glassformer.__file__).parent
HANGUL = re.compile(r"[가-힣]")
ERRORS = {"GlassformerError", "ConfigError", "InputError", "FileError", "RankError", "RankLostError", "UsageError"}
PROPER_NAMES = re.compile(
    r"\b(BLEU|CPU|CTranslate2|CUDA|GiB|Glassformer|Hugging Face Marian|K|LayerNorm|nn.Transformer|PyTorch|Q|RMSNorm|V"
    r"|x-transformers)\b"
)
VARIABLES = ("GLASSFORMER_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


def values_of(sentence: str) -> list[tuple[str, str]]:
    """The {values} of a sentence with how they are shown: {model!r} → ("model", "r")."""
    return sorted((name, shown or "") for _, name, _, shown in Formatter().parse(sentence) if name is not None)


def calls(*functions: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call of one of these functions anywhere in the source."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in functions:
                    yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def patterns(node: ast.expr) -> list[str]:
    """What a first argument can be: a constant as it is, the holes of an f-string as anything."""
    match node:
        case ast.Constant(value=str(text)):
            return [re.escape(text)]
        case ast.IfExp(body=body, orelse=orelse):
            return patterns(body) + patterns(orelse)
        case ast.JoinedStr(values=parts):
            pieces = [re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in parts]
            return ["".join(pieces)]
    return []


def raised() -> dict[str, list[tuple[str, set[str]]]]:
    """Key of an error → where it is raised, and with which values."""
    found: dict[str, list[tuple[str, set[str]]]] = {}
    for place, call in calls(*ERRORS):
        for pattern in patterns(call.args[0]):
            given = {keyword.arg for keyword in call.keywords if keyword.arg}
            found.setdefault(pattern, []).append((place, given))
    return found


def test_both_languages_have_the_same_keys_in_the_same_order() -> None:
    assert list(sentences("ko")) == list(sentences("en"))
    assert len(sentences("en")) > 150


def test_both_languages_have_the_same_values() -> None:
    differing = [key for key, text in sentences("en").items() if values_of(text) != values_of(sentences("ko")[key])]
    assert differing == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_is_empty_or_longer_than_a_line(lang: str) -> None:
    assert [key for key, text in sentences(lang).items() if not text.strip() or "\n" in text] == []


def test_english_holds_no_hangul() -> None:
    assert [key for key, text in sentences("en").items() if HANGUL.search(text)] == []


def test_korean_holds_hangul_wherever_there_is_something_to_say() -> None:
    def said(text: str) -> str:
        return PROPER_NAMES.sub("", "".join(literal for literal, *_ in Formatter().parse(text)))

    silent = [
        key for key, text in sentences("ko").items() if re.search(r"[A-Za-z]", said(text)) and not HANGUL.search(text)
    ]
    assert silent == []


def test_korean_sentences_are_polite() -> None:
    plain = re.compile(r"(?<!니)다(?=[.:)]|$)|라(?=[.:)]|$)")  # "…이다", "…하라" instead of "…입니다", "…하세요"
    assert [key for key, text in sentences("ko").items() if plain.search(text)] == []


def test_korean_keys_of_the_configuration_are_no_door_keys() -> None:
    assert [key for key, text in sentences("ko").items() if "열쇠" in text] == []


def test_korean_needs_no_particle_that_depends_on_a_value() -> None:
    paired = re.compile(r"\((을|를|이|가|은|는|와|과|으로|로)\)")  # "count을(를)": nobody speaks so
    bare = re.compile(r"\}(을|를|이|가|은|는|와|과|으로|로)(?![가-힣])")  # right for some values, wrong for others
    assert [key for key, text in sentences("ko").items() if paired.search(text) or bare.search(text)] == []


def test_korean_has_one_word_for_one_thing() -> None:
    others = re.compile(r"이름 있는 모델|종류가 맞지|논문에 실린 값|메모리의 형태|레이어")
    assert [key for key, text in sentences("ko").items() if others.search(text)] == []


def test_every_key_that_is_said_exists() -> None:
    keys = list(sentences("en"))
    missing = [
        (place, pattern)
        for place, call in calls("say", "Phrase")
        for pattern in patterns(call.args[0])
        if not any(re.fullmatch(pattern, key) for key in keys)
    ]
    assert missing == []


@pytest.mark.slow
def test_every_error_that_is_raised_has_its_sentence_and_all_of_its_values() -> None:
    for pattern, places in raised().items():
        key = f"errors.{pattern}"
        assert key in sentences("en"), places
        needed = {name for name, _ in values_of(sentences("en")[key])}
        for place, given in places:
            assert needed <= given, f"{place}: {pattern} needs {needed - given}"


@pytest.mark.slow
def test_every_warning_has_its_sentence_and_all_of_its_values() -> None:
    for place, call in calls("warn"):
        for pattern in patterns(call.args[0]):
            needed = {name for name, _ in values_of(sentences("en")[f"warnings.{pattern}"])}
            assert needed == {keyword.arg for keyword in call.keywords}, place


@pytest.mark.slow
def test_every_error_is_raised_somewhere() -> None:
    said = {pattern for _, call in calls("say") for pattern in patterns(call.args[0])}
    used = set(raised()) | {re.sub(r"^errors\\?\.", "", pattern) for pattern in said}
    dead = [key for key in sentences("en") if key.startswith("errors.") and key.removeprefix("errors.") not in used]
    assert dead == []


def test_say_fills_in_the_values_in_either_language() -> None:
    assert say("ledger.all_layers", "en", stack="encoder", layers=5) == "encoder, all 5 layers"
    assert say("ledger.all_layers", "ko", stack="인코더", layers=5) == "인코더, 층 5개 전체"


def test_say_speaks_the_language_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert say("ledger.total") == "합계"
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    assert say("ledger.total") == "total"


def test_an_unknown_key_is_refused() -> None:
    assert "ledger.nothing" not in sentences("en")
    with pytest.raises(KeyError, match=r"ledger\.nothing"):
        say("ledger.nothing", "en")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "ko_KR.UTF-8"}, "en"),
        ({"LC_MESSAGES": "ko_KR", "LANG": "en_US"}, "ko"),
        ({"GLASSFORMER_LANG": "ko", "LC_ALL": "en_US.UTF-8"}, "ko"),
        ({"GLASSFORMER_LANG": "", "LANG": "ko_KR.UTF-8"}, "ko"),
        ({"GLASSFORMER_LANG": "KO"}, "ko"),
    ],
)
def test_the_language_comes_from_the_environment(
    environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert language() == expected


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_key_stands_in_one_file_only(lang: str) -> None:
    files = sorted((SOURCE / "words" / lang).glob("*.toml"))
    assert [file.name for file in files] == sorted(file.name for file in (SOURCE / "words" / "en").glob("*.toml"))
    keys = [key for file in files for key, _ in _flatten("", tomllib.loads(file.read_text(encoding="utf-8")))]
    assert sorted(keys) == sorted(sentences(lang))


def test_both_glossaries_call_a_thing_by_the_same_names() -> None:
    """The name that one language gives beside a term is the other glossary's own term."""
    pages = (Path(glassformer.__file__).parent / "words" / lang / "pages" / "glossary.toml" for lang in ("en", "ko"))
    en, ko = (tomllib.loads(page.read_text(encoding="utf-8"))["terms"] for page in pages)
    assert list(en) == list(ko)
    assert [name for name in en if (en[name]["term"], en[name]["other"]) != (ko[name]["other"], ko[name]["term"])] == []
