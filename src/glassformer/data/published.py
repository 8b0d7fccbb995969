"""The archives that some sets are built from: where they are published, which of their members are used, and how.

The names are those of the scripts that papers use (prepare-wmt14en2de.sh and prepare-iwslt14.sh of fairseq, the
problems of tensor2tensor).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from glassformer.data.cleaning import Fit

STATMT = "https://www.statmt.org"


@dataclass(frozen=True)
class Archive:
    """One archive, and the places where it is published, in the order in which they are tried."""

    addresses: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called where it is published."""
        return tuple(dict.fromkeys(address.rpartition("/")[2] for address in self.addresses))


@dataclass(frozen=True)
class Portion:
    """One corpus: a member of an archive for each language, in the order of the set's languages."""

    archive: Archive
    files: tuple[str, ...]
    form: str = "lines"  # a key of SENTENCES, data/cleaning.py

    @property
    def name(self) -> str:
        """What its files have in common: europarl-v7.de-en."""
        letters = takewhile(lambda pair: len({*pair}) == 1, zip(*self.files, strict=False))
        return "".join(pair[0] for pair in letters).rstrip(".-")


@dataclass(frozen=True, kw_only=True)
class Build:
    """How a set is made: training pairs are cleaned, parts that are evaluated on stay as published."""

    training: tuple[Portion, ...]
    evaluated: Mapping[str, tuple[Portion, ...]] = field(default_factory=dict)  # split → corpora one after another
    fit: Fit = Fit()
    each: int = 0  # every so many of the good training pairs go to the split "val" instead


def _beside(archive: Archive, stem: str, *languages: str, form: str = "lines") -> Portion:
    return Portion(archive, tuple(f"{stem}.{language}" for language in languages), form)


DEV = Archive((f"{STATMT}/wmt14/dev.tgz", "https://data.statmt.org/wmt17/translation-task/dev.tgz"))
EUROPARL = Archive((f"{STATMT}/wmt13/training-parallel-europarl-v7.tgz", f"{STATMT}/europarl/v7/de-en.tgz"))
COMMON_CRAWL = Archive((f"{STATMT}/wmt13/training-parallel-commoncrawl.tgz",))
NEWS_COMMENTARY = Archive((f"{STATMT}/wmt14/training-parallel-nc-v9.tgz",))
TEST = Archive((f"{STATMT}/wmt14/test-full.tgz",))
TALKS = Archive(
    (
        "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14/de-en.tgz",
        "https://wit3.fbk.eu/archive/2014-01/texts/de/en/de-en.tgz",
    )
)

WMT14 = Build(
    training=(
        _beside(EUROPARL, "europarl-v7.de-en", "en", "de"),
        _beside(COMMON_CRAWL, "commoncrawl.de-en", "en", "de"),
        _beside(NEWS_COMMENTARY, "news-commentary-v9.de-en", "en", "de"),
    ),
    evaluated={
        "val": (_beside(DEV, "newstest2013", "en", "de"),),
        "test": (Portion(TEST, ("newstest2014-deen-src.en.sgm", "newstest2014-deen-ref.de.sgm"), "segments"),),
    },
)
IWSLT14 = Build(
    training=(_beside(TALKS, "train.tags.de-en", "de", "en", form="talks"),),
    evaluated={
        "test": tuple(
            _beside(TALKS, f"IWSLT14.{part}.de-en", "de.xml", "en.xml", form="segments")
            for part in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
        )
    },
    fit=Fit(longest=175),
    each=23,
)
