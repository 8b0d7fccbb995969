from __future__ import annotations

from glassformer.data.grammar.choose import Chooser, Drawn, every


def two_letters(chooser: Chooser) -> str:
    first = chooser.pick("abc")
    if chooser.chance(0.5):
        return first
    return first + chooser.weigh((("x", 1.0), ("y", 2.0), ("never", 0.0)))


def test_every_sequence_of_decisions_comes_once() -> None:
    found = list(every(two_letters))
    assert sorted(found) == sorted(["a", "ax", "ay", "b", "bx", "by", "c", "cx", "cy"])


def test_what_is_drawn_is_among_all_and_follows_the_key() -> None:
    possible = set(every(two_letters))
    drawn = [two_letters(Drawn(f"seed:{index}")) for index in range(300)]
    assert set(drawn) == possible
    assert drawn == [two_letters(Drawn(f"seed:{index}")) for index in range(300)]
    assert drawn != [two_letters(Drawn(f"other:{index}")) for index in range(300)]


def test_weights_are_kept() -> None:
    options = (("x", 1.0), ("y", 3.0), ("never", 0.0))
    chooser = Drawn("weights")
    drawn = [chooser.weigh(options) for _ in range(4000)]
    assert "never" not in drawn
    assert 0.70 < drawn.count("y") / 4000 < 0.80
    assert sum(Drawn(f"chance:{index}").chance(0.25) for index in range(4000)) / 4000 < 0.30
