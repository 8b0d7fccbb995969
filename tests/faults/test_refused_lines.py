"""One bad line among good ones, for every verb that reads lines: it is complained of, the others are answered."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from glassformer.cli.app import main
from tiny_runs import trained

VERBS = {"translation": "translate", "classification": "classify", "masked_language_model": "fill"}
GOOD, BAD = "나는 ___ 간다", " ".join(["나는"] * 500)


@pytest.mark.many
@pytest.mark.parametrize(("kind", "verb"), [*VERBS.items(), ("translation", "embed")])
@pytest.mark.parametrize("quiet", [False, True])
def test_the_rest_is_answered(
    kind: str,
    verb: str,
    quiet: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{GOOD}\n{BAD}\n{GOOD}\n".encode())))
    with pytest.raises(SystemExit) as stop:
        main([verb, str(trained(kind, tmp_path)), *(["--json"] if quiet else [])])
    out, err = capsys.readouterr()
    (refused,) = (line for line in err.splitlines() if not line.startswith("no training text held"))
    assert stop.value.code == 1 and refused.startswith("line 2: ")
    if quiet:
        found = json.loads(out)
        rows = found["embeddings"] if verb == "embed" else found
        assert len(rows) == 3 and rows[0] == rows[2] != rows[1]
    elif verb in ("translate", "classify"):
        first, second, third = out.splitlines()
        assert first == third and second == ""
    elif verb == "fill":
        first, _, third = out.partition("\n\n")  # a table, an empty line, a table
        assert first.strip() == third.strip() != ""
    else:
        assert out.count(GOOD) == 2
