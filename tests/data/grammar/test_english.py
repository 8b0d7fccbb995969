from __future__ import annotations

import pytest

from glassformer.data.grammar import english
from glassformer.data.grammar.english import Agreement

FIRST, SECOND, THIRD = Agreement(1, False), Agreement(2, False), Agreement(3, False)
WE, THEY = Agreement(1, True), Agreement(3, True)


@pytest.mark.parametrize(
    ("parts", "third", "past", "participle", "ing"),
    [
        ("go/went/gone", "goes", "went", "gone", "going"),
        ("come/came/come", "comes", "came", "come", "coming"),
        ("study", "studies", "studied", "studied", "studying"),
        ("play", "plays", "played", "played", "playing"),
        ("watch", "watches", "watched", "watched", "watching"),
        ("wash", "washes", "washed", "washed", "washing"),
        ("fix", "fixes", "fixed", "fixed", "fixing"),
        ("cry", "cries", "cried", "cried", "crying"),
        ("swim/swam/swum", "swims", "swam", "swum", "swimming"),
        ("run/ran/run", "runs", "ran", "run", "running"),
        ("shop", "shops", "shopped", "shopped", "shopping"),
        ("plan", "plans", "planned", "planned", "planning"),
        ("open", "opens", "opened", "opened", "opening"),
        ("clean", "cleans", "cleaned", "cleaned", "cleaning"),
        ("visit", "visits", "visited", "visited", "visiting"),
        ("travel", "travels", "traveled", "traveled", "traveling"),
        ("write/wrote/written", "writes", "wrote", "written", "writing"),
        ("draw/drew/drawn", "draws", "drew", "drawn", "drawing"),
        ("fly/flew/flown", "flies", "flew", "flown", "flying"),
        ("have/had/had", "has", "had", "had", "having"),
        ("get/got/gotten", "gets", "got", "gotten", "getting"),
        ("climb", "climbs", "climbed", "climbed", "climbing"),
        ("listen", "listens", "listened", "listened", "listening"),
        ("borrow", "borrows", "borrowed", "borrowed", "borrowing"),
        ("criticize", "criticizes", "criticized", "criticized", "criticizing"),
    ],
)
def test_the_parts_of_a_verb(parts: str, third: str, past: str, participle: str, ing: str) -> None:
    verb = english.verb(parts)
    assert (verb.third, verb.past, verb.participle, verb.ing) == (third, past, participle, ing)


def test_what_follows_a_verb_stays_with_it() -> None:
    assert english.verb("listen to").rest == ("to",)
    assert english.verb("throw/threw/thrown away").base == "throw"


@pytest.mark.parametrize(
    ("singular", "expected"),
    [
        ("apple", "apples"),
        ("peach", "peaches"),
        ("box", "boxes"),
        ("tomato", "tomatoes"),
        ("photo", "photos"),
        ("piano", "pianos"),
        ("dictionary", "dictionaries"),
        ("toy", "toys"),
        ("bus", "buses"),
        ("glass", "glasses"),
        ("brush", "brushes"),
        ("bicycle", "bicycles"),
    ],
)
def test_plurals(singular: str, expected: str) -> None:
    assert english.plural(singular) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("apple", "an"), ("book", "a"), ("umbrella", "an"), ("university", "a"), ("honest", "an"), ("hour", "an"),
     ("hat", "a"), ("uncle", "an"), ("useful", "a"), ("older", "an"), ("one", "a"), ("egg", "an")],
)  # fmt: skip
def test_articles_follow_the_sound(word: str, expected: str) -> None:
    assert english.article(word) == expected


def test_be_and_do_agree() -> None:
    assert [english.be(who, past=False) for who in (FIRST, SECOND, THIRD, WE, THEY)] == [
        "am",
        "are",
        "is",
        "are",
        "are",
    ]
    assert [english.be(who, past=True) for who in (FIRST, SECOND, THIRD, WE, THEY)] == [
        "was",
        "were",
        "was",
        "were",
        "were",
    ]
    assert [english.do(who, past=False) for who in (FIRST, SECOND, THIRD, WE, THEY)] == ["do", "do", "does", "do", "do"]
    assert english.do(THIRD, past=True) == "did"
    assert english.finite(english.verb("go/went/gone"), THIRD, past=False) == "goes"
    assert english.finite(english.verb("go/went/gone"), THEY, past=False) == "go"
    assert english.finite(english.verb("go/went/gone"), THIRD, past=True) == "went"


@pytest.mark.parametrize(
    ("adjective", "comparative", "superlative"),
    [
        ("tall", "taller", "tallest"),
        ("big", "bigger", "biggest"),
        ("sad", "sadder", "saddest"),
        ("hot", "hotter", "hottest"),
        ("large", "larger", "largest"),
        ("cute", "cuter", "cutest"),
        ("safe", "safer", "safest"),
        ("brave", "braver", "bravest"),
        ("pretty", "prettier", "prettiest"),
        ("busy", "busier", "busiest"),
        ("spicy", "spicier", "spiciest"),
        ("quiet", "quieter", "quietest"),
        ("slow", "slower", "slowest"),
        ("clean", "cleaner", "cleanest"),
        ("soft", "softer", "softest"),
        ("good", "better", "best"),
        ("bad", "worse", "worst"),
        ("interesting", "more interesting", "most interesting"),
        ("delicious", "more delicious", "most delicious"),
        ("boring", "more boring", "most boring"),
        ("honest", "more honest", "most honest"),
        ("diligent", "more diligent", "most diligent"),
        ("famous", "more famous", "most famous"),
        ("spacious", "more spacious", "most spacious"),
    ],
)
def test_comparison(adjective: str, comparative: str, superlative: str) -> None:
    assert " ".join(english.comparative(adjective)) == comparative
    assert " ".join(english.superlative(adjective)) == superlative


def test_a_sentence_begins_with_a_capital() -> None:
    assert english.capitalised("i go") == "I go"
