"""What `same_as_before.py` dumps of the commands: --help, JSON, runs that go on, lessons and the textbook."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tiny_runs
from glassformer.lessons import record
from glassformer.lessons.catalogue import LESSONS

COMMANDS = [
    ("presets",),
    ("models",),
    ("recipes",),
    ("lessons",),
    ("data",),
    *(("count", name, "--length", "16") for name in ("paper-base", "gpt2", "llama3-8b", "vit-b16")),
    ("count", "gpt2", "--decode", "--past", "10"),
    ("plan", "gpt2", "--tokens", "300B", "--device", "h100", "--devices", "8"),
    ("plan", "paper-base", "--tokens", "300M", "--device", "a100-80", "--parallel", "ddp", "--batch", "8"),
    ("plan", "llama3-405b", "--tokens", "15T", "--device", "h100", "--devices", "4096", "--checkpointing", "full"),
    ("plan", "llama3-8b", "--tokens", "1T", "--device", "h200", "--devices", "64", "--checkpointing", "selective"),
    ("trace", "mini-classifier", "나는 학교에 간다"),
    ("trace", "paper-base", "나는 간다", "--target", "I go", "--set", "d_model=32", "--set", "vocab_size=40"),
    ("trace", "gpt2", "나는 간다", "--set", "d_model=48", "--set", "vocab_size=40", "--layer", "1"),
    ("bench", "published-sizes"),
    ("claims",),
    ("doctor",),
    ("recipes", "show", "ko-en", "--full"),
    ("compare", "mini-classifier", "mini-classifier"),
]
# What is clocked, or read off the machine and the commit, by command; whatever else they say is compared.
VARIES = {
    "bench": {"commit", "versions", "machine"},
    "claims": {"source"},
    "doctor": {"found"},
    "lesson": {"source"},
    "train": {"seconds"},
}
CLOCKED = {
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}": "DATE",
    r"\d+:\d\d:\d\d": "CLOCK",
    r"(CLOCK[\s|]+CLOCK[\s|]+)[−+]?[\d.]+%": r"\1SHARE",
    r"`?src/glassformer/[\w/]+\.py`?( · )?": "",  # where a file is; `lesson --json` lists what has moved
}  # on a page


def helps() -> dict[str, str]:
    from glassformer.cli.commands import app  # the names of all commands

    names = sorted(command.name or command.callback.__name__ for command in app.registered_commands)
    return {" ".join(words): said(*words) for words in [("--help",), *((name, "--help") for name in names)]}


def commands() -> dict[str, Any]:
    with not_stale():
        found = {" ".join(words): json_of(*words) for words in COMMANDS}
    found |= {f"recipes show {each['name']}": json_of("recipes", "show", each["name"]) for each in found["recipes"]}
    for kind in tiny_runs.KINDS:
        with tempfile.TemporaryDirectory() as home:
            found |= {f"{name} {kind}": said for name, said in of_a_run(kind, Path(home)).items()}
    return found


def of_a_run(kind: str, home: Path) -> dict[str, Any]:
    """What the commands say of a trained run."""
    run = tiny_runs.trained(kind, home)
    one, recipe, out = str(run), str(run / "config.toml"), str(home / "exported")

    def ask(*words: str) -> Any:
        return json_of(*words, hide=str(home))

    found = {
        "use": ask(*tiny_runs.use(kind, run, home)),
        "evaluate": ask("evaluate", one),
        "count": ask("count", one, "--length", "4"),
        "embed": ask("embed", one, "우리는 자주 웃는다"),
        "dry run": ask("train", recipe, "--dry-run"),
        "export": ask("export", one, "--out", out),
        "exported": digests(Path(out)),
        "import": ask("import", out, "--out", str(home / "imported")),
        "imported": digests(home / "imported"),
        "sweep": ask(
            "sweep",
            recipe,
            "--vary",
            "train.learning_rate=0.001,0.002",
            "--set",
            "train.steps=2",
            "--out",
            str(home / "sweep"),
        ),
    }
    later = shutil.copytree(run, home / "later")
    return found | {"resumed": resumed(later), "compare": ask("compare", one, str(later))}


def digests(folder: Path) -> dict[str, str]:
    """What a command has written: the bytes of weights and words, not of records, which hold times and places."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".safetensors", ".txt", ".model", ".json"))
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def lessons() -> dict[str, Any]:
    """Every lesson in both languages from its recorded result, with the bytes of its picture."""
    with cached() as home, not_stale():
        found = {}
        for name, lang in product(LESSONS, ("en", "ko")):
            picture = Path(home) / f"{name}.{lang}.svg"
            said = json_of("lesson", name, "--lang", lang, "--picture", str(picture), hide=home)
            drawn = hashlib.sha256(picture.read_bytes()).hexdigest() if picture.exists() else "no picture"
            found[f"{name} {lang}"] = {"said": said, "drawn": drawn}
    return found


def report() -> dict[str, Any]:
    """The textbook with a chapter on a run: what is read in the page, and the Markdown, line by line."""
    with cached() as home, not_stale():
        run = tiny_runs.trained("translation", Path(home))
        json_of("report", "--run", str(run), "--out", f"{home}/report")
        pages = sorted(path for path in Path(home, "report").rglob("*") if path.suffix in (".md", ".html"))
        return {path.name: read(path, home) for path in pages}


def read(path: Path, home: str) -> list[str]:
    """The lines of a page as they are read: without drawings, and without our source code, which a page quotes."""
    text = path.read_text(encoding="utf-8").replace(home, "HOME")
    if path.suffix == ".html":
        text = re.sub(r"(?s)<(style|script|svg|pre)\b.*?</\1>", "", text)
        text = re.sub(r"</?(a|b|code|em|i|span|strong|sub|sup)\b[^>]*>", "", text)
        text = unescape(re.sub(r"<[^>]*>", "\n", text))
    for pattern, instead in CLOCKED.items():
        text = re.sub(pattern, instead, text)
    return [line.strip() for line in text.splitlines() if line.strip()]


@contextlib.contextmanager
def cached() -> Iterator[str]:
    """A cache of its own: nothing that this machine drew or measured before."""
    with tempfile.TemporaryDirectory() as home, patch.dict(os.environ, GLASSFORMER_CACHE=f"{home}/cache"):
        yield home


def not_stale() -> Any:
    """Recorded results are shown as they are, whatever the code has become: nothing is measured here."""
    return patch.object(getattr(record, "LessonResult", None) or record.Result, "stale", False)


def resumed(run: Path) -> dict[str, str]:
    """Go on for four steps; the bytes of the checkpoint that was written then: weights, optimiser, random numbers."""
    said("train", str(run), "--set", "train.steps=12")
    files = sorted((run / "checkpoints" / "step-00000012").glob("*.safetensors"))
    return {str(p.relative_to(run)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def said(*words: str) -> str:
    from glassformer.cli.app import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
        main(words)
    return out.getvalue()


def json_of(*words: str, hide: str = "") -> Any:
    """What a command says as JSON, or the sentence with which it refuses."""
    text = said(*words, "--json")
    text = text.replace(hide, "HOME") if hide else text
    start = re.search(r"^[\[{]", text, re.MULTILINE)  # behind the warnings
    try:
        return steady(json.loads(text[start.start() :]), VARIES.get(words[0], set())) if start else text
    except json.JSONDecodeError:
        return text


def steady(value: Any, varying: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: steady(each, varying) for key, each in value.items() if key not in varying}
    return [steady(each, varying) for each in value] if isinstance(value, list) else value
