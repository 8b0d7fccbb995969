from __future__ import annotations

from pathlib import Path

import pytest

from glassformer.data.cleaning import Fit, cleaned, segments, talks
from glassformer.errors import FileError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  two   words ", "two words"),
        ("Haus\u00adtür", "Haustür"),  # a soft hyphen does not cut its word
        ("a\u200bb\ufeffc\u2060d", "abcd"),
        ("a\u0007b\u0085c\ue000d\x00e", "a b c d e"),
        ("a\u00a0b\u2028c\u3000d\te\rf", "a b c d e f"),
        ("„Zitat“ – so’n", "„Zitat“ – so’n"),  # punctuation stays: data.prepare = "moses" normalises it
        ("한국어 문장", "한국어 문장"),
        ("\u200b \u00ad", ""),
    ],
)
def test_what_cannot_be_seen_goes(text: str, expected: str) -> None:
    assert cleaned(text) == expected
    assert cleaned(expected) == expected


def test_pairs_that_are_no_translations_go() -> None:
    fit = Fit(longest=6, ratio=1.5)
    assert fit.fault("a b c", "a b") == "" and fit.fault("a b", "a b c") == ""  # exactly 1.5
    assert fit.fault("a b c d", "a b") == fit.fault("a b", "a b c d") == "ratio"
    assert fit.fault("", "a") == fit.fault("a", "") == "empty"
    assert fit.fault("a b c d e f", "a b c d e f") == "" and fit.fault("a b c d e f g", "a b c d e") == "long"
    assert fit.fault("Don't.", "Nicht doch !!") == ""  # Don ' t . are four tokens, Nicht doch ! ! too


def test_the_default_is_that_of_the_papers() -> None:
    assert Fit() == Fit(longest=250, ratio=1.5)


def test_segments_are_unwrapped(tmp_path: Path) -> None:
    path = tmp_path / "a.sgm"
    path.write_text('<DOC>\n<p>\n<seg id="1"> R&amp;D &lt;b&gt; &quot;x&quot; & y </seg>\n</p>\n<SEG ID=2>two</SEG>\n')
    assert list(segments(path)) == ['R&D <b> "x" & y', "two"]
    path.write_text("<p>nothing</p>\n")
    with pytest.raises(FileError, match=r"a\.sgm holds no sentence between <seg> and </seg>; use the published file"):
        list(segments(path))


def test_lines_about_a_talk_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "train.tags.de-en.de"
    path.write_text(
        "<doc docid='1'>\n<url>u</url>\n<keywords>k</keywords>\n<speaker>s</speaker>\n<talkid>1</talkid>\n"
        "<title>Ein Titel</title>\n<description>TED: worum es geht</description>\n Ein Satz.\n\n"
        "<reviewer>r</reviewer>\n<translator>t</translator>\n</doc>\n"
    )
    assert list(talks(path)) == ["Ein Titel", "TED: worum es geht", " Ein Satz.", ""]
