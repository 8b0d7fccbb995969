"""All constructions by name, and how a sentence is chosen."""

from __future__ import annotations

from collections.abc import Callable

from glassformer.data.grammar import compose_being as being
from glassformer.data.grammar import compose_doing as doing
from glassformer.data.grammar import compose_joined as joined
from glassformer.data.grammar.choose import Chooser
from glassformer.data.grammar.clauses import Clauses
from glassformer.data.grammar.level import Level
from glassformer.data.grammar.lexicon import Address, Noun
from glassformer.data.grammar.tree import Sentence

Construction = Callable[[Clauses], Sentence | None]

CONSTRUCTIONS: dict[str, Construction] = {
    "motion": doing.motion,
    "activity": doing.activity,
    "transitive": doing.transitive,
    "giving": doing.giving,
    "weather": doing.weather,
    "question": doing.question,
    "wh_question": doing.wh_question,
    "command": doing.command,
    "suggestion": doing.suggestion,
    "adjective": being.adjective,
    "adjective_question": being.adjective_question,
    "comparison": being.comparison,
    "superlative": being.superlative,
    "identity": being.identity,
    "become": being.become,
    "age": being.age,
    "be_at": being.be_at,
    "there_is": being.there_is,
    "there_is_question": being.there_is_question,
    "have": being.have,
    "need": being.need,
    "and_same": joined.and_same,
    "and_other": joined.and_other,
    "but": joined.but,
    "because": joined.because,
    "when": joined.when,
    "if": joined.conditional,
    "before": joined.before,
    "after": joined.after,
    "purpose": joined.purpose,
    "relative_object": joined.relative_object,
    "relative_subject": joined.relative_subject,
    "think": joined.think,
}


def listener(chooser: Chooser, level: Level) -> Address | Noun | None:
    """The listener: nobody in particular (plain style), a friend (casual), or a person to be polite or formal to."""
    if not level.spoken or not chooser.chance(level.spoken):
        return None
    if chooser.chance(0.4):
        return chooser.pick(level.nouns(("name",)))
    return chooser.pick(level.addresses)


def compose(chooser: Chooser, level: Level, construction: str | None = None) -> Sentence | None:
    """A sentence, or None if the decisions lead to none."""
    name = construction or chooser.weigh(level.constructions)
    return CONSTRUCTIONS[name](Clauses(chooser, level, listener(chooser, level)))
