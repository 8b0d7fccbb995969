"""Labelled sentences for classification, from the same trees: sentiment and topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from glassformer.data.grammar.level import feeling, level_of
from glassformer.data.grammar.pair import GrammarPair
from glassformer.data.grammar.sample import evenly, kinds_of, trees
from glassformer.data.grammar.splits import all_clauses, phrases_of
from glassformer.data.grammar.tree import Clause, Sentence
from glassformer.errors import choose

LABELS = {
    "sentiment": ("negative", "positive"),
    "topic": ("art", "food", "nature", "sports", "study", "travel"),
}
LabelCell = tuple[str, bool]


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence in both languages and its label."""

    source_ko: str
    target_en: str
    label: str
    pair: GrammarPair


def feelings(clause: Clause) -> list[tuple[int, bool]] | None:
    """(+1 or -1, reversed by a negation?) of each word with a feeling; None if the clause leaves it open."""
    word = clause.predicate.verb or clause.predicate.adjective
    described = [phrase.adjective.mood for phrase in phrases_of(clause) if phrase.adjective and phrase.adjective.mood]
    own = word.mood if word else ""
    too_much = clause.degree is not None and clause.degree.ko == ("너무",)
    if (own and (clause.modality or clause.standard or too_much)) or (described and clause.negative):
        return None
    found = [(1 if mood == "positive" else -1, False) for mood in described]
    if own:
        sign = 1 if own == "positive" else -1
        found.append((-sign if clause.negative else sign, clause.negative))
    return found


def sentiment(tree: Sentence) -> LabelCell | None:
    """(label, did a negation decide it?); None for questions, commands, contrasts, and both feelings or neither."""
    if tree.mood != "statement" or tree.joint == "but":
        return None
    signs: list[tuple[int, bool]] = []
    for clause in all_clauses(tree):
        found = feelings(clause)
        if found is None:
            return None
        signs += found
    if len({sign for sign, _ in signs}) != 1:
        return None
    return LABELS["sentiment"][signs[0][0] > 0], any(turned for _, turned in signs)


def topic(tree: Sentence) -> LabelCell | None:
    """The topic of its words; None if there is none, or more than one."""
    found: set[str] = set()
    for clause in all_clauses(tree):
        nouns = [phrase.noun for phrase in phrases_of(clause)]
        places = (clause.goal, clause.stay, clause.source, clause.place, clause.vehicle, clause.tool)
        found |= {noun.topic for noun in (*nouns, *places) if noun}
        found |= {clause.predicate.verb.topic} if clause.predicate.verb else set()
    found.discard("")
    return (found.pop(), False) if len(found) == 1 else None


JUDGES: dict[str, Callable[[Sentence], LabelCell | None]] = {"sentiment": sentiment, "topic": topic}


def labelled(
    split: str,
    count: int,
    *,
    label: str = "sentiment",
    seed: int = 0,
    level: str = "small",
    kinds: Sequence[str] | None = None,
) -> list[LabelledSentence]:
    """`count` different labelled sentences of a split, equally many of each label.

    Half of each sentiment comes from a negated word of the other one (안 좋다, 싫어하지 않는다), so that no single
    word decides. With chosen `kinds` they come as drawn: few words are held out, not of every label.
    """
    judge = choose("label", label, JUDGES)
    turns = (False, True) if label == "sentiment" else (False,)
    cells = [(name, turned) for name in LABELS[label] for turned in turns]
    levels = [level_of(level), feeling(level)] if label == "sentiment" else [level_of(level)]
    found = trees(split, seed, levels, kinds_of(split, kinds), lambda tree: judge(tree) is not None)
    if kinds is None:
        chosen = evenly(found, count, cells, lambda tree, _: judge(tree))
    else:
        chosen = evenly(found, count, [True], lambda *_: True)
    return [LabelledSentence(pair.source_ko, pair.target_en, _name(judge(tree)), pair) for tree, pair in chosen]


def _name(cell: LabelCell | None) -> str:
    assert cell is not None
    return cell[0]
