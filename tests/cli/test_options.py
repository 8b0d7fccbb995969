from __future__ import annotations

import datetime
import math
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.cli.app import main
from glassformer.cli.options import overrides
from glassformer.config.model import ModelConfig
from glassformer.errors import UsageError


@pytest.mark.parametrize(
    ("given_words", "expected"),
    [
        (None, {}),
        ([], {}),
        (["d_ff=1024"], {"d_ff": 1024}),
        ([" d_ff = 1_024 "], {"d_ff": 1024}),
        (["eps=1e-6"], {"eps": 1e-6}),
        (["final_norm=true"], {"final_norm": True}),
        (["position=rotary"], {"position": "rotary"}),
        (['position="rotary"'], {"position": "rotary"}),
        (['position={ kind = "rotary", base = 5 }'], {"position": {"kind": "rotary", "base": 5}}),
        (['bias=["q", "k"]'], {"bias": ["q", "k"]}),
        (["bias=q,k"], {"bias": "q,k"}),
        (["position.base=500000"], {"position.base": 500_000}),
        (["d_ff=1", "d_ff=2"], {"d_ff": 2}),
        (["name=a=b"], {"name": "a=b"}),
        (["day=1979-05-27"], {"day": datetime.date(1979, 5, 27)}),
        (["d_ff=8 # eight"], {"d_ff": 8}),
        (["d_ff=8\nd_model=9"], {"d_ff": "8\nd_model=9"}),
        (["d_ff=8\n[table]"], {"d_ff": "8\n[table]"}),
        (["d_ff=" + "9" * 9_000], {"d_ff": "9" * 9_000}),
        (["d_ff=" + "[" * 9_000], {"d_ff": "[" * 9_000}),
        (["d_ff=[["], {"d_ff": "[["}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_value_is_toml_or_a_word(given_words: list[str] | None, expected: dict[str, Any]) -> None:
    assert overrides(given_words) == expected


def test_infinity_and_nan_are_numbers() -> None:
    assert overrides(["eps=inf"]) == {"eps": math.inf}
    assert math.isnan(overrides(["eps=nan"])["eps"])


@pytest.mark.parametrize("word", ["", "d_ff", "=5", "d_ff=", " = ", "d_ff= "])
def test_what_is_no_key_and_value(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        overrides([word])
    assert str(caught.value) == f"--set {word}: write key=value, such as --set d_ff=1024"
    assert caught.value.in_language("ko") == f"--set {word}: --set d_ff=1024처럼 키=값 형식으로 쓰세요"


keys = st.sampled_from([*ModelConfig.__dataclass_fields__, "position.base", "head.pool", "input.size"]) | st.text()
values = st.one_of(
    st.text(),
    st.text("0123456789.eE+-xinfa_[]{}=,'\"\n #", max_size=12),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["true", "rotary", "encoder", "[]", "{}", "{ kind = 'none' }", "9" * 5_000, "0x" + "f" * 5_000]),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(keys, values, st.sampled_from(["en", "ko"]))
def test_any_override_is_obeyed_or_refused_in_one_line(key: str, value: str, lang: str) -> None:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main(["count", "mini-classifier", "--lang", lang, "--layers", "1", "--set", f"{key}={value}"])
    if stop.value.code == 0:
        assert err.getvalue() == ""
        assert "mini-classifier" in out.getvalue()
        return
    assert stop.value.code in (1, 2)
    assert out.getvalue() == ""
    line = err.getvalue()
    assert line.endswith("\n")
    assert line[:-1].isprintable()
    assert len(line) < 2_500
    assert "something went wrong" not in line
    assert "예상하지 못한 오류" not in line
