from __future__ import annotations

import os

import pytest

from glassformer.errors import InputError
from glassformer.text.panic import PanicError, contained


class Loud(BaseException):
    """As a panic is: no Exception."""


def test_what_is_made_is_handed_on() -> None:
    assert contained(lambda: 3) == 3


def test_a_panic_is_an_exception_of_one_line_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def panic() -> None:
        os.write(2, b"thread panicked")
        raise Loud("first line\nsecond")

    with pytest.raises(PanicError, match=r"^first line$"):
        contained(panic)
    os.write(2, b"heard again")
    assert capfd.readouterr().err == "heard again"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), InputError("empty_text")])
def test_what_is_no_panic_stays_what_it_is(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        contained(fail)


def test_it_works_where_the_standard_error_is_closed() -> None:
    kept = os.dup(2)
    os.close(2)
    try:
        assert contained(lambda: 3) == 3
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(2)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
