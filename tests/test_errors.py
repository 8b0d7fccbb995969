from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from glassformer.errors import (
    LONGEST,
    ConfigError,
    FileError,
    GlassformerError,
    GlassformerWarning,
    InputError,
    Phrase,
    UsageError,
    reason,
    shown,
    suggest,
    warn,
)


def test_an_error_is_english_until_it_is_asked_for_korean() -> None:
    error = ConfigError("heads_do_not_divide", n_heads=6, d_model=512, close="4, 8")
    assert str(error) == "n_heads=6 does not divide d_model=512; use 4, 8, or set d_k"
    assert error.in_language("en") == str(error)
    assert error.in_language("ko") == (
        "n_heads=6: d_model=512의 약수가 아닙니다. 약수(4, 8)를 쓰거나 d_k를 따로 정하세요"
    )


def test_a_value_may_be_called_key() -> None:
    assert str(ConfigError("out_of_range", key="d_ff", value=0, low=1, high=9)) == (
        "d_ff=0 is out of range; use 1 to 9"
    )


def test_a_phrase_is_said_in_the_language_of_its_sentence() -> None:
    error = ConfigError("wrong_type", key="d_ff", value="'x'", expected=Phrase("expected.whole_number"))
    assert str(error).endswith("use a whole number, such as 512")
    assert error.in_language("ko").endswith("쓸 수 있는 값: 512 같은 정수")


def test_braces_in_a_sentence_and_in_a_value_stay_braces() -> None:
    error = ConfigError("option_missing", key="head", kind="regression", option="outputs")
    assert str(error).endswith('write head = { kind = "regression", outputs = … }')
    assert "{d_ff}" in str(ConfigError("kind_missing", key="{d_ff}"))


def test_wrong_use_is_an_error_like_the_others() -> None:
    for kind in (ConfigError, InputError, FileError, UsageError):
        with pytest.raises(GlassformerError, match="use ko or en"):
            raise kind("bad_lang", given="fr")


@pytest.mark.parametrize(
    "value", ["x" * 100_000, Path("x" * 100_000), 10**5_000, -(10**40)], ids=["text", "path", "huge", "negative"]
)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_no_value_is_endless(value: object, lang: str) -> None:
    line = ConfigError("out_of_range", key="d_ff", value=value, low=1, high=9).in_language(lang)
    assert len(line) < LONGEST + 100
    assert line.startswith("d_ff=")


def test_a_large_number_that_can_be_read_is_shown_as_it_is() -> None:
    assert "d_ff=-123456789012345678 " in str(
        ConfigError("out_of_range", key="d_ff", value=-123456789012345678, low=1, high=9)
    )


def test_shown_is_short_whatever_is_given() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown("d_ff") == "'d_ff'"
    assert shown(list(range(1_000))) == repr(list(range(1_000)))[:59] + "…"
    assert shown({"size": 16**9_000}) == Phrase("expected.huge")
    assert shown(nested) == "list …"


def test_the_nearest_name_is_suggested() -> None:
    assert suggest("d_modl", ["d_ff", "d_model", "d_k"]).say("en") == "did you mean d_model?"
    assert suggest("d_modl", ["d_ff", "d_model", "d_k"]).say("ko") == "혹시 이것인가요: d_model"


def test_all_names_are_listed_when_none_is_near() -> None:
    assert suggest("zzz", {"rotary": 1, "alibi": 2}).say("en") == "there are: alibi, rotary"
    assert suggest("z" * 1_000_000, ["alibi"]).say("ko") == "쓸 수 있는 이름: alibi"


def test_an_error_survives_the_way_from_another_process() -> None:
    error = ConfigError("unknown_key", key="d_modl", hint=suggest("d_modl", ["d_model"]))
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is ConfigError
    assert str(arrived) == str(error) == "d_modl: no such key; did you mean d_model?"


def test_a_warning_is_said_in_either_language_and_survives_pickling() -> None:
    why = reason(ConfigError("out_of_range", key="d_ff", value=0, low=1, high=9))
    with pytest.warns(GlassformerWarning) as said:
        warn("checkpoint_passed_over", instead="step-1", why=why)
    (warning,) = (each.message for each in said)
    assert isinstance(warning, GlassformerWarning) and not isinstance(warning, GlassformerError)
    assert str(warning).endswith("step-1 is used instead: d_ff=0 is out of range; use 1 to 9")
    assert "건너뛰고" in warning.in_language("ko")
    assert str(pickle.loads(pickle.dumps(warning))) == str(warning)
