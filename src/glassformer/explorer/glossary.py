"""The glossary as the page needs it: every term with its meaning, and the forms in which a text may name it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from glassformer.explorer.texts import PARSING
from glassformer.textbook.book import Page
from glassformer.textbook.prose import kept, line, marked
from glassformer.words import sentences

FORMS = "explorer.forms."  # sentences with the forms of a term that do not follow from its name
EVERYDAY = {"confirmed", "refuted", "depends", "undecided", "stale"}  # also words of everyday texts, never marked
BESIDE = {"key": "query", "value": "query"}  # everyday words too: terms where the other is spoken of
_BRACKETS = re.compile(r"^(.+?) ?\(([^)]+)\)(?: (.+))?$")


@cache
def glossary(lang: str) -> dict[str, Any]:
    """All terms in the order of the textbook; `forms` are empty for what is never marked in a text."""
    own = sentences(lang)
    with PARSING:
        terms = Page("glossary", lang).terms
    return {
        "language": lang,
        "terms": [
            {
                "key": key,
                "term": term["term"],
                "other": term["other"],
                "meaning": str(marked(kept(line(term["meaning"])), lang)),
                "forms": [] if key in EVERYDAY else forms(term["term"], own.get(FORMS + key)),
                "beside": BESIDE.get(key),
            }
            for key, term in terms.items()
        ],
    }


def forms(term: str, written: str | None = None) -> list[str]:
    """What a text may call a term: "rotary positions (RoPE)" is named rotary positions, or RoPE."""
    if written is not None:
        return [form.strip() for form in written.split(";")]
    found = _BRACKETS.match(term)
    if found is None:
        several = term.split(", ")
        return several if len(several) == 2 else [term]
    outside, inside, after = found[1], found[2], found[3]
    if after:
        return [f"{outside} {after}", f"{inside} {after}"]
    names = outside.split(", ")
    return [*names, inside] if len(inside) > 1 and "," not in inside else names
