"""The help texts that come with every Python, as a corpus of English: `help("for")` shows one of them."""

from __future__ import annotations

from functools import cache
from hashlib import sha1
from unicodedata import normalize

from glassformer.data.documents import Documents

SHARES = (("test", 0.1), ("validation", 0.1))  # of all characters; the rest is for training


@cache
def topics(split: str) -> Documents:
    """The topics of a split, by the hash of their names.

    Many topics quote others: a paragraph that stands in several is kept in the first alone, so that nothing that is
    tested on was learned from. Another version of Python has other texts, and another number comes out.
    """
    from pydoc_data.topics import topics as every

    left = _without_repetitions({name: normalize("NFC", every[name]) for name in sorted(every)})
    total, parts = sum(map(len, left.values())), dict[str, str]()
    order = sorted(left, key=lambda name: sha1(name.encode(), usedforsecurity=False).digest())
    done, bounds = 0, [(name, share * total) for name, share in SHARES]
    for topic in order:
        while bounds and done >= bounds[0][1]:
            done, bounds = 0, bounds[1:]
        parts[topic] = bounds[0][0] if bounds else "train"
        done += len(left[topic])
    return Documents([left[topic] for topic in sorted(left) if parts[topic] == split])


def _without_repetitions(texts: dict[str, str]) -> dict[str, str]:
    seen: set[str] = set()
    left: dict[str, str] = {}
    for name, text in texts.items():
        kept = []
        for paragraph in text.strip().split("\n\n"):
            mark = " ".join(paragraph.split())  # the same paragraph may be indented elsewhere
            if mark not in seen:
                seen.add(mark)
                kept.append(paragraph)
        if kept:
            left[name] = "\n\n".join(kept) + "\n"
    return left
