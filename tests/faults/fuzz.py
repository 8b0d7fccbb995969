"""Hostile inputs: what is made of them, and the one property that holds for all of them.

A case is a few files beside a small world of trained runs, and a question: a command line, or a call from Python. The
world is on disk once per process; whatever a case has written over is put back after it.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unicodedata
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from PIL import Image

import glassformer as gf
import tiny_runs
from foreign_texts import sentencepiece_model
from glassformer.cli import commands
from glassformer.cli.app import main
from glassformer.config import CHOICES, ModelConfig, literal
from glassformer.data.channel import read_channels
from glassformer.data.documents import read_documents
from glassformer.data.pair_files import read_pairs
from glassformer.data.texts import read_texts
from glassformer.errors import GlassformerError, GlassformerWarning
from glassformer.hub.export import export_run
from glassformer.models.presets import PRESETS
from glassformer.open import Loaded, load, open_recipe, own_recipe, recipes
from glassformer.recipe import TABLES
from glassformer.text import open_tokenizer
from glassformer.train.begin import begin
from glassformer.train.loop import train
from glassformer.words import LANGUAGES, say
from texts import CORPUS, SIZES
from texts import trained as trained_tokenizer
from tiny_tasks import TINY, tiny

UNEXPECTED = say("errors.unexpected", "en").partition("{")[0]
KINDS = (
    "translation",
    "classification",
    "masked_language_model",
    "language_model",
    "image_classification",
    "forecasting",
)
TOKENIZER_KINDS = (*SIZES, "foreign")
BERT = {"position": "learned", "norm_order": "post", "final_norm": False, "embedding_norm": True}
EXPORTED: dict[str, dict[str, Any]] = {  # by task: what a model must have to leave as Hugging Face's
    "masked_language_model": BERT | {"embedding_scale": False, "segments": 1, "activation": "gelu"},
    "translation": {"position": {"kind": "sinusoidal", "layout": "halves"}},
    "language_model": {"position": "learned", "embedding_scale": False},
    "image_classification": {},
}
HERE = "{here}"  # in a command line: the folder of the world


@dataclass(frozen=True)
class Case:
    """Files by name below the world (None: the file is away), and a command line or a call."""

    files: Mapping[str, bytes | None]
    ask: tuple[str, ...] | Callable[[], object]

    def __repr__(self) -> str:
        ask: object = self.ask
        if isinstance(ask, partial):  # a loaded model would be written in full
            given = [each for each in ask.args if not isinstance(each, Loaded)]
            ask = f"{getattr(ask.func, '__name__', ask.func)}{(*given,)!r}"
        return f"Case({dict(self.files)!r}, {ask})"


# --- the world ---


class World:
    """A folder with a trained run of every task and a tokenizer of every kind; `here` is where all paths begin."""

    def __init__(self) -> None:
        self.here = Path(tempfile.mkdtemp(prefix="glassformer-fuzz-"))
        for kind in KINDS:
            tiny_runs.trained(kind, self.here)
        for kind in SIZES:
            trained_tokenizer(kind).save(self.here / "tokenizers" / kind)
        (self.here / "tokenizers" / "foreign").mkdir()
        (self.here / "tokenizers" / "foreign" / "spiece.model").write_bytes(sentencepiece_model())
        for kind, keys in EXPORTED.items():
            for _ in train(begin(tiny(kind, model=keys), self.here / "leaving")):
                pass
            export_run(self.here / "leaving", self.here / "hf" / kind)
            shutil.rmtree(self.here / "leaving")
        self.uses = {kind: tiny_runs.use(kind, self.here / kind, self.here) for kind in KINDS}
        for left in ("samples", "pictures", "checkpoints/step-00000004"):
            for kind in KINDS:
                shutil.rmtree(self.here / kind / left, ignore_errors=True)
        self.before = self.now()
        self.contents = {path: Path(path).read_bytes() for path in self.before}

    def now(self) -> dict[str, tuple[int, int]]:
        """Every file, with its size and the moment of its last change."""
        return {path: (known.st_size, known.st_mtime_ns) for path, known in _files(str(self.here))}

    def loaded(self, kind: str) -> Loaded:
        return _loaded(self.here / kind)

    def content(self, name: str) -> bytes:
        """As it was before any case."""
        return self.contents[str(self.here / name)]


@cache
def _loaded(run: Path) -> Loaded:
    return load(run)


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _files(entry.path)
        else:
            yield entry.path, entry.stat()


@cache
def world() -> World:
    """Made once; in memory where the machine has a place for that."""
    commands.whole_command = cache(commands.whole_command)  # typer takes 60 ms to make it, the same every time
    made = World()
    atexit.register(shutil.rmtree, made.here, ignore_errors=True)
    return made


# --- the property ---


def holds(case: Case, *, as_command: bool = False) -> str:
    """Ask; every file is as it was and none is new; what was asked is answered, or refused in one line.

    Returns how it went, for the record: "answered" or "refused".
    """
    place = world()
    given = place.before | _put(case.files, place)
    try:
        if not isinstance(case.ask, tuple):
            went = _from_python(case.ask)
        else:
            words = [word.replace(HERE, str(place.here)) for word in case.ask]
            went = _judged(*(_as_process(words) if as_command else _in_process(words)))
        if case.files or isinstance(case.ask, tuple):
            now = place.now()
            assert now == {path: stamp for path, stamp in given.items() if stamp}, {*now.items()} ^ {*given.items()}
        for name, content in case.files.items():
            assert content is None or (place.here / name).read_bytes() == content, f"{name} was changed"
    finally:
        _put_back(case.files, place)
    return went


def _put(files: Mapping[str, bytes | None], place: World) -> dict[str, tuple[int, int] | None]:
    """Write them; their sizes and moments, None for those that are away."""
    stamps: dict[str, tuple[int, int] | None] = {}
    for name, content in files.items():
        path = place.here / name
        if content is None:
            path.unlink(missing_ok=True)
            stamps[str(path)] = None
        else:
            path.write_bytes(content)
            known = path.stat()
            stamps[str(path)] = (known.st_size, known.st_mtime_ns)
    return stamps


def _put_back(files: Mapping[str, bytes | None], place: World) -> None:
    for name in files:
        path = place.here / name
        if str(path) in place.before:
            path.write_bytes(place.content(name))
            os.utime(path, ns=(place.before[str(path)][1],) * 2)
        else:
            path.unlink(missing_ok=True)


def _from_python(ask: Callable[[], object]) -> str:
    """Whatever else is raised than an error of ours goes through, and is the finding."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore", GlassformerWarning)
        try:
            ask()
            went = "answered"
        except GlassformerError as error:
            assert all(error.in_language(lang).strip() for lang in LANGUAGES)
            went = "refused"
    assert not err.getvalue(), err.getvalue()
    return went


def _in_process(words: list[str]) -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        try:
            main(["--lang", "en", *words])
        except SystemExit as stop:
            code = int(stop.code or 0)
    out.flush()
    return code, out.buffer.getvalue().decode("utf-8"), err.getvalue()


def _as_process(words: list[str]) -> tuple[int, str, str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "glassformer", "--lang", "en", *words],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env=environment,
        timeout=300,
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def _judged(code: int, out: str, err: str) -> str:
    """0 done, 1 failed, 2 wrong use; a refusal is the last line, and before it stands at most what is worth knowing."""
    assert code in (0, 1, 2), code
    assert "Traceback" not in out + err, err
    assert UNEXPECTED not in err, err
    lines = err.split("\n")
    assert lines.pop() == "", err
    assert all(line.isprintable() for line in lines), err
    if code:
        assert len(lines) == 1, err
    return "refused" if code else "answered"


# --- what is drawn ---
# hypothesis draws the seed of a case, `Random` the rest: to draw every letter through hypothesis takes ten times as
# long as the case itself. A case has one to three faults: there is nothing to shrink.

# fmt: off
NASTY = (
    "", " ", "\x00", "\x1b[31m", "\n", "a\nb", "가", "힣ㅎㅏㄴ", "\u1112", "é", "\u0301", "\u202eabc", "😀", "\u200d",
    "a" * 3000, "..", "/", "~", "nan", "inf", "-1", "1e999", "{x}", "%s", "[MASK]", "___", "<s>", "[/red]", "\\", "'",
    '"', "\ufeffa", "𝟙", "١", "½", "\u2028", "\x85",
)
NUMBERS = (
    0, 1, 2, 3, 7, -1, 255, 2**31 - 1, 2**31, 2**63, -(2**63), 10**30, 10**400, 10**5000,
    0.0, -0.0, 0.5, 1.0, 1.5, -0.1, 1e-320, 1e308, math.nan, math.inf, -math.inf,
)
# fmt: on


def word(chance: Random) -> str:
    """What has broken some program, or letters of all the world."""
    return chance.choice(NASTY) if chance.random() < 0.6 else letters(chance, chance.randrange(12))


def letters(chance: Random, count: int) -> str:
    return "".join(chr(chance.randrange(*chance.choice(RANGES))) for _ in range(count))


RANGES = (
    (0, 0x80),
    (0x20, 0x7F),
    (0x80, 0x300),
    (0x300, 0x370),
    (0x590, 0x700),
    (0x1100, 0x1200),
    (0xAC00, 0xD7A4),
    (0x2000, 0x2100),
    (0xE000, 0x110000),
)


def scalar(chance: Random) -> Any:
    kind = chance.randrange(8)
    if kind < 3:
        return word(chance)
    if kind < 6:
        return chance.choice(NUMBERS)
    return chance.randrange(-100, 100) if kind == 6 else chance.random() < 0.5


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@cache
def _known_words() -> list[str]:
    """What the package calls things, in places where they do not belong."""
    tables = [table for recipe in _recipes() for table in recipe.values()]
    values = {value for table in tables for value in table.values() if isinstance(value, str)}
    return sorted({*PRESETS, *TABLES, *CHOICES, "kind", *values})


ODD = ([], {}, [[]], {"kind": {}}, {"kind": []}, {"": {}}, _deep(60))
NOT_TOML = (None, b"", b"\xff", (), set(), object, 1j, _deep(5000), {1: 2}, {None: None}, "\ud800", range(3))


def value(chance: Random) -> Any:
    """Any value that a file can hold."""
    match chance.randrange(8):
        case 0 | 1 | 2:
            return scalar(chance)
        case 3 | 4:
            return chance.choice(_known_words())
        case 5:
            return [scalar(chance) for _ in range(chance.randrange(4))]
        case 6:
            keys = [chance.choice(["kind", "size", "base", "pool", word(chance)]) for _ in range(chance.randrange(4))]
            return {key: chance.choice([scalar(chance), chance.choice(_known_words())]) for key in keys}
    return chance.choice(ODD)


@cache
def _likely() -> dict[str, list[Any]]:
    """Values by key, as presets and recipes have them: what is right for one model is often wrong for another."""
    found: dict[str, list[Any]] = {}
    models = [PRESETS[name]().to_dict() for name in PRESETS]
    for table in [*models, *(table for recipe in [*_recipes(), *TINY.values()] for table in recipe.values())]:
        for key, item in table.items():
            if item not in found.setdefault(key, []):
                found[key].append(item)
    return found


def value_of(chance: Random, key: str, values: Callable[[Random], Any]) -> Any:
    """One that another model or recipe has there, the same with something changed in it, or any."""
    known = _likely().get(key)
    if not known or chance.random() < 0.5:
        return values(chance)
    found = chance.choice(known)
    return changed(chance, found, values) if isinstance(found, dict) and chance.random() < 0.5 else found


def small_value(chance: Random) -> Any:
    """For data that is really made or read: nothing large is asked for."""
    found = value(chance)
    return 3 if isinstance(found, int | float) and abs(found) > 50 else found


def json_value(chance: Random) -> Any:
    """Python writes no number of over 4,300 digits."""
    found = value(chance)
    return found if found != 10**5000 and 10**5000 not in _items(found) else 10**400


def python_value(chance: Random) -> Any:
    """Any value that a call can hold."""
    return chance.choice(NOT_TOML) if chance.random() < 0.2 else value(chance)


KEYS = [key.name for key in fields(ModelConfig)]
SMALL = {
    "family": "encoder",
    "vocab_size": 50,
    "d_model": 8,
    "n_heads": 2,
    "d_ff": 8,
    "n_encoder_layers": 1,
    "max_len": 16,
}
BASES = [SMALL, {"preset": "mini-classifier"}, *({"vocab_size": 50} | table["model"] for table in TINY.values())]


def _toml(tables: Mapping[str, Any]) -> bytes:
    """As TOML as it goes: what cannot be said in it is said somehow, and is refused for that."""
    lines = []
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            lines.append(f"{_said(name)} = {_literal(table)}")
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines.append(f"[{_said(name)}]")
            lines += [f"{_said(key)} = {_literal(value)}" for key, value in table.items()]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _said(key: object) -> str:
    return literal(str(key))


def _literal(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{_said(key)} = {_literal(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case int() if not isinstance(value, bool) and abs(value) > 10**4000:
            return "1" + "0" * 5000
    return literal(value)


def damaged(chance: Random, content: bytes) -> bytes:
    """Bytes flipped, cut, doubled, zeroed or put in."""
    at = chance.randint(0, max(len(content) - 1, 0))
    length = chance.choice([1, 1, 2, 8, 100])
    match chance.choice(["flip", "cut", "zero", "insert", "double", "remove", "empty"]):
        case "flip" if content:
            return content[:at] + bytes([content[at] ^ chance.randint(1, 255)]) + content[at + 1 :]
        case "cut":
            return content[:at]
        case "zero":
            return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]
        case "insert":
            return content[:at] + chance.randbytes(chance.randint(1, 6)) + content[at:]
        case "double":
            return content[:at] + content[at : at + length] * 2 + content[at + length :]
        case "remove":
            return content[:at] + content[at + length :]
    return b""


def changed(chance: Random, table: Any, values: Callable[[Random], Any] = value) -> Any:
    """A document of dicts and lists with one place changed: gone, another value, under another name, or twice."""
    table = _copy(table)
    inside = table
    for _ in range(chance.randint(0, 3)):
        below = [value for value in _items(inside) if isinstance(value, dict | list) and value]
        if not below:
            break
        inside = chance.choice(below)
    if isinstance(inside, list) and inside:
        at = chance.randint(0, len(inside) - 1)
        if chance.random() < 0.5:
            inside[at] = values(chance)
        else:
            inside[at : at + 1] = chance.choice([[], [inside[at]] * 2])
    elif isinstance(inside, dict) and inside:
        key = chance.choice(list(inside))
        match chance.choice(["gone", "other", "other", "other", "renamed", "new"]):
            case "gone":
                del inside[key]
            case "other" if values is not small_value:
                inside[key] = value_of(chance, key, values)
            case "other":
                inside[key] = values(chance)
            case "renamed":
                inside[word(chance)] = inside.pop(key)
            case "new":
                inside[word(chance)] = values(chance)
    return table


def _items(value: Any) -> list[Any]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
    return []


def _copy(value: Any) -> Any:
    match value:
        case dict():
            return {key: _copy(item) for key, item in value.items()}
        case list():
            return [_copy(item) for item in value]
    return value


# --- configurations ---


def configs(chance: Random) -> Case:
    base = dict(chance.choice(BASES))
    how = chance.choice(["check", "check", "count", "file", "file", "damaged", "set", "plan"])
    values = python_value if how in ("check", "count") else value
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        key = chance.choice(KEYS) if chance.random() < 0.9 else word(chance)
        base[key] = value_of(chance, key, values)
    match how:
        case "check":
            return Case({}, partial(gf.check, base))
        case "count":
            return Case({}, partial(gf.count, base))
        case "file":
            files = {"given.toml": _toml({"model": base})}
            return Case(files, ("count", f"{HERE}/given.toml", *chance.choice([(), ("--json",), ("--length", "4")])))
        case "damaged":
            return Case(
                {"given.toml": damaged(chance, (_toml({"model": base})))}, ("count", f"{HERE}/given.toml", "--json")
            )
        case "set":
            key, given = chance.choice(KEYS), word(chance)
            return Case({}, ("count", "mini-classifier", "--json", "--set", f"{key}={given}".replace("\x00", "")))
    tokens, device = word(chance).replace("\x00", ""), chance.choice(["h200", "a100-40", "x", ""])
    files = {"given.toml": _toml({"model": base})}
    return Case(files, ("plan", f"{HERE}/given.toml", f"--tokens={tokens or 1}", "--device", device, "--json"))


# --- recipes ---


@cache
def _recipes() -> list[dict[str, Any]]:
    return [tomllib.loads(path.read_text("utf-8")) for path in recipes().values()]


def recipe_files(chance: Random) -> Case:
    how = chance.choice([*["package", "package", "damaged", "set"] * 3, "dry-run"])
    if how == "set":
        table = chance.choice(["run", *TABLES, word(chance)])
        key = chance.choice([*_likely(), word(chance)])
        changes = {f"{table}.{key}": value_of(chance, key, python_value)}
        return Case({}, partial(open_recipe, chance.choice(list(recipes())), changes))
    if how == "dry-run":  # the data is really read: nothing large is asked for
        whole = chance.choice(list(TINY.values()))
        table = changed(chance, {name: table for name, table in whole.items() if name != "data"}, small_value)
        table["data"] = whole["data"]
        return Case({"given.toml": _toml(table)}, ("train", f"{HERE}/given.toml", "--dry-run", "--json"))
    table = chance.choice(_recipes())
    for _ in range(chance.randint(1, 2)):
        table = changed(chance, table)
    content = _toml(table)
    if how == "damaged":
        content = damaged(chance, content)
    return Case({"given.toml": content}, partial(_recipe_and_model, world().here / "given.toml"))


def _recipe_and_model(path: Path) -> None:
    gf.check(open_recipe(path).model)


# --- checkpoints ---


def checkpoints(chance: Random) -> Case:
    kind = chance.choice(KINDS)
    name = chance.choice(_names(kind))
    content = world().content(name)
    if name.endswith((".json", ".toml")) and chance.random() < 0.5:
        toml = name.endswith(".toml")
        table = changed(
            chance, tomllib.loads(content.decode()) if toml else json.loads(content), value if toml else json_value
        )
        changed_file: bytes | None = _toml(table) if toml else json.dumps(table).encode()
    else:
        changed_file = None if chance.random() < 0.2 else damaged(chance, content)
    if chance.randint(0, 3):
        return Case({name: changed_file}, partial(gf.load, world().here / kind))
    return Case({name: changed_file}, _use(kind))


@cache
def _names(folder: str) -> list[str]:
    here = world().here
    return sorted(str(path.relative_to(here)) for path in (here / folder).rglob("*") if path.is_file())


def _use(kind: str) -> tuple[str, ...]:
    place = world()
    return tuple(word.replace(str(place.here), HERE) for word in place.uses[kind])


def foreign(chance: Random) -> Case:
    """A folder as `transformers` leaves it, with something wrong in one of its files."""
    kind = chance.choice(list(EXPORTED))
    names = _names(f"hf/{kind}")
    name = f"hf/{kind}/config.json" if chance.random() < 0.5 else chance.choice(names)
    content = world().content(name)
    if name.endswith(".json") and chance.random() < 0.8:
        given: bytes | None = json.dumps(changed(chance, json.loads(content), json_value)).encode()
    else:
        given = None if chance.random() < 0.2 else damaged(chance, content)
    folder = world().here / "hf" / kind
    match chance.randrange(8):
        case 0:
            verb, _, *rest = _use(kind)
            return Case({name: given}, (verb, f"{HERE}/hf/{kind}", *rest))
        case 1:
            return Case({name: given}, ("count", f"{HERE}/hf/{kind}", "--json"))
        case 2 | 3:
            return Case({name: given}, partial(gf.load, folder))
    return Case({name: given}, partial(gf.check, folder))


# --- tokenizers ---


def tokenizers(chance: Random) -> Case:
    as_command = chance.random() < 0.05
    kind = "classification" if as_command else chance.choice(TOKENIZER_KINDS)
    name = chance.choice(_names("classification/tokenizer" if as_command else f"tokenizers/{kind}"))
    content = world().content(name)
    if name.endswith(".json") and chance.randint(0, 3):
        given = json.dumps(changed(chance, json.loads(content), json_value)).encode()
    else:
        given = damaged(chance, content)
    if as_command:
        return Case({name: given}, _use(kind))
    return Case({name: given}, partial(_open_and_use, world().here / "tokenizers" / kind))


def _open_and_use(folder: Path) -> None:
    tokenizer = open_tokenizer(folder)
    ids = tokenizer.encode(CORPUS[0])
    tokenizer.decode(ids)
    tokenizer.pieces(CORPUS[-1])


# --- texts ---

COMMON = (*NASTY, "나는", "학교에", "간다", " ", "the ", "___", "[MASK]")


def text(chance: Random) -> str:
    """Letters of all the world, words and signs in a row, a few letters thousands of times, what is not composed."""
    match chance.randrange(4):
        case 0:
            return letters(chance, chance.randrange(40))
        case 1:
            return "".join(chance.choice(COMMON) for _ in range(chance.randrange(8)))
        case 2:
            return letters(chance, chance.randint(1, 3)) * chance.choice([30, 300, 3000])
    return unicodedata.normalize("NFD", letters(chance, chance.randrange(20)))


TEXT_KINDS = (
    *("classification", "masked_language_model") * 12,
    "language_model",
    "translation",
    "tokenizer",
    "command",
)
VERBS: dict[str, Callable[..., object]] = {
    "classification": gf.classify,
    "masked_language_model": gf.fill,
    "language_model": partial(gf.generate, tokens=1),
    "translation": partial(gf.translate, beam=1),
}


def texts(chance: Random) -> Case:
    given = text(chance)
    kind = chance.choice(TEXT_KINDS)
    if kind == "tokenizer":
        return Case({}, partial(_round_trip, chance.choice(TOKENIZER_KINDS), given))
    if kind == "command":
        task = chance.choice(["classification", "masked_language_model"])
        verb, run, _ = _use(task)
        return Case({}, (verb, run, "--", _argument(given)))
    if chance.randint(0, 15) == 0:
        given += "\ud800"  # what Python has for a byte that is no text
    return Case({}, partial(VERBS[kind], world().loaded(kind), given))


def _argument(text: str) -> str:
    """No process can be given a NUL."""
    return text.replace("\x00", "")[:2000] or "a"


@cache
def _tokenizer(kind: str) -> Any:
    return open_tokenizer(world().here / "tokenizers" / kind)


def _round_trip(kind: str, text: str) -> None:
    tokenizer = _tokenizer(kind)
    tokenizer.decode(tokenizer.encode(text))
    tokenizer.pieces(text)


# --- tables ---

# fmt: off
CELLS = (
    "1", "1.5", "1,5", "1.234,5", "1e400", "nan", "NaN", "inf", "-", "", " ", "2024-01-01", "2024-13-45", "01.02.2024",
    "2024-02-30 25:61", "0000-00-00", "9999999-01-01", "good", "bad", "나는 학교에 간다", "I go to school", '"', '"a',
    'a"b', "'", "\x00", "\ufeff", "\r", "label", "text", "date", "=1+1", "1_000", "٣", "1" * 400, "-5", "0", "3",
)
# fmt: on


def cell(chance: Random) -> str:
    return chance.choice(CELLS) if chance.random() < 0.8 else letters(chance, chance.randrange(6))


NAMES = ("given.csv", "given.tsv", "given.jsonl", "given.txt")
READERS: tuple[Callable[[Path], object], ...] = (
    own_recipe,
    read_channels,
    read_texts,
    read_pairs,
    read_documents,
    partial(read_documents, by_line=True),
)


def tables(chance: Random) -> Case:
    name = chance.choice(NAMES)
    content = chance.choice([_rows, _rows, _long])(chance, name)
    if chance.randint(0, 3) == 0:
        content = damaged(chance, content)
    how = chance.randrange(32)
    if how == 0:
        return Case({name: content}, ("forecast", f"{HERE}/forecasting", f"{HERE}/{name}", "--json"))
    if how == 1:
        task = chance.choice(["translation", "classification", "forecasting", "language_model", "x"])
        return Case({name: content}, ("train", f"{HERE}/{name}", "--dry-run", "--json", "--task", task))
    if how == 2:
        return Case({name: content}, partial(gf.forecast, world().loaded("forecasting"), world().here / name))
    return Case({name: content}, partial(chance.choice(READERS), world().here / name))


def _rows(chance: Random, name: str) -> bytes:
    """A few rows, ragged, of any cells."""
    rows = [[cell(chance) for _ in range(chance.randrange(5))] for _ in range(chance.randrange(7))]
    rows *= chance.choice([1, 1, 5, 20])
    if name.endswith(".jsonl"):
        return b"\n".join(_object(row) for row in rows)
    delimiter, end = (
        chance.choice([",", ";", "\t", "|", " ", ""]),
        chance.choice(["\n", "\r\n", "\r", "\n\n"]),
    )
    coding = chance.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp949", "latin-1"])
    return end.join(delimiter.join(row) for row in rows).encode(coding, "replace")


def _object(row: list[str]) -> bytes:
    if len(row) == 3:
        return json.dumps(row).encode()
    return json.dumps(dict(zip(("text", "label", "x", row[-1]) if row else (), row, strict=False))).encode()


def _long(chance: Random, name: str) -> bytes:
    """A good file of sixty rows with one bad cell."""
    rows = [[f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00", f"{i % 24}.5"] for i in range(60)]
    rows[chance.randint(0, 59)][chance.randint(0, 1)] = cell(chance)
    if name.endswith(".jsonl"):
        return b"\n".join(_object(row) for row in rows)
    return "\n".join(("," if name.endswith("csv") else "\t").join(row) for row in [["date", "load"], *rows]).encode(
        "utf-8", "replace"
    )


# --- images ---


@cache
def _pictures() -> dict[str, bytes]:
    """Small images of every form, and some that say they are large."""
    found = {}
    for form in ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP"):
        for mode in ("L", "RGB"):
            written = io.BytesIO()
            Image.radial_gradient("L").resize((8, 8)).convert(mode).save(written, form)
            found[f"{form}-{mode}.{form.lower()}"] = written.getvalue()
    png = found["PNG-L.png"]
    for name, sides in {
        "none": (0, 0),
        "large": (2**31 - 1, 2**31 - 1),
        "wide": (200_000, 1),
        "bomb": (20_000, 20_000),
    }.items():
        header = b"IHDR" + sides[0].to_bytes(4) + sides[1].to_bytes(4) + png[24:29]
        found[f"{name}.png"] = png[:12] + header + zlib.crc32(header).to_bytes(4) + png[33:]
    return found


def images(chance: Random) -> Case:
    name = chance.choice(sorted(_pictures()))
    content = _pictures()[name]
    for _ in range(chance.randint(0, 2)):
        content = damaged(chance, content)
    if chance.randint(0, 9) == 0:
        return Case({name: content}, ("recognise", f"{HERE}/image_classification", f"{HERE}/{name}", "--json"))
    return Case({name: content}, partial(gf.recognise, world().loaded("image_classification"), world().here / name))


class Family(NamedTuple):
    """How a case is made, and its share of the cases and of the commands: the cheap ones have most."""

    make: Callable[[Random], Case]
    share: float
    commands: float


FAMILIES = {
    "configs": Family(configs, 0.35, 0.2),
    "recipes": Family(recipe_files, 0.17, 0.1),
    "texts": Family(texts, 0.16, 0.1),
    "tables": Family(tables, 0.18, 0.2),
    "images": Family(images, 0.05, 0.1),
    "tokenizers": Family(tokenizers, 0.04, 0.1),
    "checkpoints": Family(checkpoints, 0.02, 0.1),
    "foreign": Family(foreign, 0.03, 0.1),
}


def made(family: str, seed: bytes, *, as_command: bool = False) -> Case:
    """The case of a seed, or the first one after it that is a command."""
    chance = Random(seed)
    case = FAMILIES[family].make(chance)
    while as_command and not isinstance(case.ask, tuple):
        case = FAMILIES[family].make(chance)
    return case
