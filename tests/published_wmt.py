"""WMT14 and IWSLT14 as they are published, but small: the same archives, members and forms, written by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from glassformer.data.catalogue import DATASETS, Dataset
from glassformer.data.published import Archive, Build, Portion
from publisher import tar

ENGLISH = ("the", "cat", "sat", "on", "a", "mat", "and", "saw", "another", "dog", "run", "away", "from", "its", "house")
GERMAN = (
    "die",
    "Katze",
    "saß",
    "auf",
    "einer",
    "Matte",
    "und",
    "sah",
    "einen",
    "anderen",
    "Hund",
    "aus",
    "Köln",
    "laufen",
)


def sentences(count: int, words: Sequence[str], seed: str) -> list[str]:
    chance = random.Random(seed)
    return [f"{' '.join(chance.choices(words, k=8))} {number}." for number in range(count)]


def lines(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def sgml(texts: Sequence[str]) -> bytes:
    segments = "".join(f'<seg id="{number}">{text}</seg>\n' for number, text in enumerate(texts, 1))
    return f'<refset setid="x">\n<doc docid="y">\n<p>\n{segments}</p>\n</doc>\n</refset>\n'.encode()


def wmt_archives(europarl: int = 400, crawl: int = 500, commentary: int = 100) -> dict[str, bytes]:
    """The five archives by name. One pair in ten of the crawl is no translation, and four others are odd."""
    english, german = sentences(crawl, ENGLISH, "crawl"), sentences(crawl, GERMAN, "crawl")
    english = [text if number % 10 else "one" for number, text in enumerate(english)]
    english[1], german[2] = "", "  "
    english[3] = german[3] = "very " * 251 + "long"
    english[4], german[4] = "it\u00ad can\u200b\u0007not\u2028be  seen", "man kann es nicht sehen\u0085"
    files = {
        "training-parallel-europarl-v7.tgz": {
            "training/europarl-v7.cs-en.cs": b"x\n",
            "training/europarl-v7.de-en.de": lines(sentences(europarl, GERMAN, "europarl")),
            "training/europarl-v7.de-en.en": lines(sentences(europarl, ENGLISH, "europarl")),
        },
        "training-parallel-commoncrawl.tgz": {
            "commoncrawl.de-en.annotation": b"x\n",
            "commoncrawl.de-en.de": lines(german),
            "commoncrawl.de-en.en": lines(english),
        },
        "training-parallel-nc-v9.tgz": {
            "training/news-commentary-v9.de-en.de": lines(sentences(commentary, GERMAN, "nc")),
            "training/news-commentary-v9.de-en.en": lines(sentences(commentary, ENGLISH, "nc")),
        },
        "dev.tgz": {
            "dev/newstest2012.de": b"x\n",
            "dev/newstest2013.de": lines(sentences(30, GERMAN, "dev")),
            "dev/newstest2013.en": lines(sentences(30, ENGLISH, "dev")),
        },
        "test-full.tgz": {
            "test-full/newstest2014-deen-ref.de.sgm": sgml(sentences(33, GERMAN, "test")),
            "test-full/newstest2014-deen-ref.en.sgm": sgml(["not asked for"]),
            "test-full/newstest2014-deen-src.en.sgm": sgml(
                ["Standard &amp; Poor's „said“ so", *sentences(32, ENGLISH, "test")]
            ),
        },
    }
    return {name: tar(members) for name, members in files.items()}


def iwslt_archive(count: int = 100) -> bytes:
    """The one archive, with the tags of the training text and a line about each talk that is left out."""
    members: dict[str, bytes] = {}
    for language, words in (("de", GERMAN), ("en", ENGLISH)):
        about = ["<url>http://ted</url>", "<keywords>talks</keywords>", "<speaker>X</speaker>", "<talkid>1</talkid>"]
        titles = ["<title>a title here</title>", "<description>TED: a description here</description>"]
        members[f"de-en/train.tags.de-en.{language}"] = lines([*about, *titles, *sentences(count, words, "ted")])
        for part in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"):
            members[f"de-en/IWSLT14.{part}.de-en.{language}.xml"] = sgml(sentences(3, words, part))
    return tar(members)


def at(build: Build, address: Callable[[str], str]) -> Build:
    """The same build from archives that are published elsewhere, at one address each."""

    def moved(portions: Sequence[Portion]) -> tuple[Portion, ...]:
        return tuple(replace(each, archive=Archive((address(each.archive.names[0]),))) for each in portions)

    evaluated = {split: moved(portions) for split, portions in build.evaluated.items()}
    return replace(build, training=moved(build.training), evaluated=evaluated)


def small_row(name: str, url: str) -> Dataset:
    """The row of a set as the catalogue has it, published at `url`, with the lengths of the small test sets."""
    known = DATASETS[name]
    assert known.build is not None
    lengths = {"wmt14-ende": {"val": 30, "test": 33}, "iwslt14-deen": {"test": 15}}[name]
    splits = {
        split: replace(part, rows=lengths[split]) if split in lengths else part for split, part in known.splits.items()
    }
    return replace(known, build=at(known.build, lambda archive: f"{url}/{archive}"), splits=splits)
