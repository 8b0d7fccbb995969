from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

from glassformer.data.grammar import lexicon
from glassformer.data.grammar.lexicon import phrasing, read_lexicon

WORDS = read_lexicon()
KNOWN = {noun.kind for noun in WORDS.nouns.values()} | set(WORDS.nouns) | {"person", "someone"}


def toml(name: str) -> dict[str, dict[str, list[str]]]:
    path = Path(lexicon.__file__).parent / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def test_each_korean_noun_has_an_english_one_of_its_own() -> None:
    english = Counter(noun.en for noun in WORDS.nouns.values())
    assert [word for word, count in english.items() if count > 1] == []


def test_korean_verbs_that_share_their_english_take_different_objects_or_places() -> None:
    for verb in WORDS.verbs.values():
        for other in WORDS.verbs.values():
            if verb.lemma < other.lemma and verb.en == other.en and bool(verb.object) == bool(other.object):
                mine = {noun for noun in WORDS.nouns.values() if {noun.kind, noun.lemma} & set(verb.object)}
                theirs = {noun for noun in WORDS.nouns.values() if {noun.kind, noun.lemma} & set(other.object)}
                assert not mine & theirs, (verb.lemma, other.lemma)
                assert mine or bool(verb.goal) != bool(other.goal), (verb.lemma, other.lemma)


def test_korean_adjectives_that_share_their_english_describe_different_things() -> None:
    for word in WORDS.adjectives.values():
        for other in WORDS.adjectives.values():
            if word.lemma < other.lemma and word.en == other.en:
                mine = {
                    n.lemma
                    for n in WORDS.nouns.values()
                    if {n.kind, n.lemma, "person" if n.human else ""} & set(word.of)
                }
                theirs = {
                    n.lemma
                    for n in WORDS.nouns.values()
                    if {n.kind, n.lemma, "person" if n.human else ""} & set(other.of)
                }
                assert not mine & theirs, (word.lemma, other.lemma)


def test_times_are_one_to_one() -> None:
    english = Counter(" ".join(time.en) for time in WORDS.times)
    korean = Counter(" ".join(time.ko) for time in WORDS.times)
    assert max(english.values()) == max(korean.values()) == 1


def test_every_class_that_is_asked_for_exists() -> None:
    roles = ("subject", "object", "recipient", "goal", "stay", "source", "place", "vehicle", "tool")
    for verb in WORDS.verbs.values():
        for role in roles:
            assert set(getattr(verb, role)) <= KNOWN, (verb.lemma, role)
        assert set(verb.manner) <= set(WORDS.adverbs["manner"]), verb.lemma
    for adjective in WORDS.adjectives.values():
        assert set(adjective.of) <= KNOWN, adjective.lemma


def test_every_word_that_is_put_to_use_exists() -> None:
    usage = toml("usage")
    positions = set(WORDS.adverbs["position"])
    for table in ("be_at", "have", "need", "job", "age", "lying", "found", "at"):
        for name, words in usage[table].items():
            assert set(words) <= KNOWN, (table, name)
    for name, sides in usage["side"].items():
        assert set(sides) <= positions, name
    assert set(usage["side"]) == set(usage["lying"]) <= set(WORDS.nouns)
    known = set(WORDS.verbs) | set(usage["act"])
    assert all(set(words) <= known for words in usage["consequence"].values())
    assert set(usage["sequence"]["verb"]) | set(usage["contrast"]["verb"]) <= set(WORDS.verbs)


def test_every_word_of_the_small_level_exists() -> None:
    words = toml("levels")["words"]
    times = {" ".join(time.ko) for time in WORDS.times}
    known = {"nouns": WORDS.nouns, "verbs": WORDS.verbs, "adjectives": WORDS.adjectives, "times": times}
    for table, chosen in words.items():
        assert set(chosen) <= set(known.get(table, WORDS.adverbs.get(table, ()))), table
        assert len(set(chosen)) == len(chosen), table


def test_marks_say_which_word_comes_from_which() -> None:
    assert phrasing("일곱 시에", "at^2 seven^1 o'clock^2").links == (2, 1, 2)
    assert phrasing("어제", "yesterday").links == (0,)
    assert WORDS.nouns["축구 경기"].en == "soccer game"
