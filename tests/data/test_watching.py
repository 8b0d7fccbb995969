from __future__ import annotations

from glassformer.data.watching import OFTEN, tell, told, watched


def test_who_watches_is_told_and_nobody_else() -> None:
    seen: list[tuple[str, int, int | None]] = []
    tell("reading", 1)
    with watched(lambda *what: seen.append(what)):
        tell("reading", 2)
        with watched(lambda *what: None):
            tell("reading", 3)
        tell("tokens", 4, 5)
    tell("reading", 6)
    assert seen == [("reading", 2, None), ("tokens", 4, 5)]


def test_items_pass_and_now_and_then_it_is_said() -> None:
    seen: list[int] = []
    with watched(lambda doing, done, total: seen.append(done)):
        assert list(told(range(OFTEN + 1), "words", OFTEN + 1)) == list(range(OFTEN + 1))
    assert seen == [0, OFTEN]
