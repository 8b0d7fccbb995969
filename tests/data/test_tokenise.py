from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import pytest

from glassformer.data import tokenise
from glassformer.data.cut import Cut
from glassformer.data.pairs import Pairs, read_parallel
from glassformer.data.prepared import every_prepared, home
from glassformer.data.shard import SHARDS
from glassformer.data.store import Store
from glassformer.data.stored_texts import StoredTexts
from glassformer.data.tokenise import EXAMPLES, TextColumn, tokenised, tokenizer_mark
from glassformer.errors import FileError
from glassformer.text import TOKENIZERS, Characters, Tokenizer, open_tokenizer, train
from small_disk import no_file_larger_than
from stored_pairs import as_large, write_corpus

CUT = Cut("leave_out", 30)


@pytest.fixture
def pairs(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pairs:
    as_large(monkeypatch)
    return read_parallel(*write_corpus(tmp_path, 500))


@pytest.fixture
def tokenizer(pairs: Pairs) -> Tokenizer:
    return Characters.train([*pairs.sources, *pairs.targets], None)


def sides(pairs: Pairs, tokenizer: Tokenizer) -> dict[str, TextColumn]:
    assert isinstance(pairs.sources, StoredTexts) and isinstance(pairs.targets, StoredTexts)
    return {"source": TextColumn(pairs.sources, tokenizer), "target": TextColumn(pairs.targets, tokenizer)}


def in_memory(pairs: Pairs, tokenizer: Tokenizer) -> Store:
    coded = {"source": tokenizer.encode_batch([*pairs.sources]), "target": tokenizer.encode_batch([*pairs.targets])}
    return Store.of(coded).no_longer_than(30)


def on_cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(count)))


def test_the_tokens_are_those_of_memory_and_are_mapped(
    pairs: Pairs, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cores(monkeypatch, 1)
    found, expected = tokenised(sides(pairs, tokenizer), CUT), in_memory(pairs, tokenizer)
    assert 0 < len(found) < len(pairs)  # some were too long
    assert found.fingerprint == expected.fingerprint
    assert [[side.tolist() for side in found[i]] for i in range(len(found))] == [
        [side.tolist() for side in expected[i]] for i in range(len(expected))
    ]
    assert type(found.fields["source"].tokens).__name__ == "memmap"
    (folder,) = [each.path for each in every_prepared() if each.kind == "tokens"]
    assert sorted(path.name for path in folder.iterdir()) == ["about.json", EXAMPLES]


@pytest.mark.slow
def test_any_number_of_processes_gives_the_same_file(
    pairs: Pairs, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    contents = []
    for cores in (1, 3):
        on_cores(monkeypatch, cores)
        monkeypatch.setattr(tokenise, "VERSION", cores)  # another folder
        tokenised(sides(pairs, tokenizer), CUT)
    for each in every_prepared():
        if each.kind == "tokens":
            contents.append((each.path / EXAMPLES).read_bytes())
    assert len(contents) == 2
    assert contents[0] == contents[1]


def test_what_it_depends_on_makes_another_store(
    pairs: Pairs, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cores(monkeypatch, 1)
    first = sides(pairs.chosen(range(20)), tokenizer)
    for changed, cut in ((first, CUT), (first, CUT), (first, Cut("leave_out", 29))):
        tokenised(changed, cut)
    tokenised(sides(pairs.chosen(range(21)), tokenizer), CUT)
    other = Characters.train(["bz"], None)
    tokenised({**first, "target": replace(first["target"], tokenizer=other)}, CUT)
    assert sum(each.kind == "tokens" for each in every_prepared()) == 4
    assert tokenizer_mark(other) != tokenizer_mark(tokenizer)


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_tokenizer_that_was_saved_and_opened_has_the_same_mark(kind: str, tmp_path: Path) -> None:
    """A run has the vocabulary of the cache saved again: it must find the tokens that were made with that one."""
    draw = random.Random(0)
    texts = [" ".join("".join(draw.choices("abdeiklnorst", k=4)) for _ in range(9)) for _ in range(200)]
    learned = train(kind, texts, None if kind in ("characters", "words") else 600)
    marks = [tokenizer_mark(learned)]
    for name in ("one", "two"):
        learned.save(tmp_path / name)
        learned = open_tokenizer(tmp_path / name)
        marks.append(tokenizer_mark(learned))
    assert marks == [marks[0]] * 3


def test_a_full_disk_leaves_the_shards_that_are_whole_and_the_next_try_goes_on(
    pairs: Pairs, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cores(monkeypatch, 1)
    written: list[int] = []
    whole = tokenise.write_shard

    def until_full(job: object, number: int) -> None:
        if len(written) == 3:
            with no_file_larger_than(100):
                whole(job, number)  # type: ignore[arg-type]
        whole(job, number)  # type: ignore[arg-type]
        written.append(number)

    monkeypatch.setattr(tokenise, "write_shard", until_full)
    with pytest.raises(FileError, match=r"-000003\.safetensors cannot be written: File too large; make room"):
        tokenised(sides(pairs, tokenizer), CUT)
    assert written == [0, 1, 2]
    monkeypatch.setattr(tokenise, "write_shard", whole)
    (draft,) = [each.path for each in every_prepared() if not each.whole]
    times = {path: path.stat().st_mtime_ns for path in sorted((draft / SHARDS).glob("0*.safetensors"))}
    (draft / SHARDS / "000002.safetensors").write_bytes(b"half")
    redone: list[int] = []
    monkeypatch.setattr(tokenise, "write_shard", lambda job, number: (redone.append(number), whole(job, number)))
    assert tokenised(sides(pairs, tokenizer), CUT).fingerprint == in_memory(pairs, tokenizer).fingerprint
    assert len(times) == 3
    assert redone == [2, 3, 4, 5, 6, 7]  # the first two were kept


PROGRAM = """
import sys
from pathlib import Path
from glassformer.data import stored_texts, tokenise
from glassformer.data.cut import Cut
from glassformer.data.pairs import read_parallel
from glassformer.data.tokenise import TextColumn, tokenised
from glassformer.text import open_tokenizer
stored_texts.LARGE, tokenise.SHARD = 0, 64
pairs = read_parallel(*map(Path, sys.argv[1:3]))
one = open_tokenizer(sys.argv[3])
print("ready", flush=True)
tokenised({"source": TextColumn(pairs.sources, one), "target": TextColumn(pairs.targets, one)}, Cut("leave_out", 30))
"""


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(
    pairs: Pairs, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tokenizer.save(tmp_path / "tokenizer")
    command = [sys.executable, "-c", PROGRAM, *(str(tmp_path / f"train.{side}") for side in ("en", "de"))]
    draft_shards: set[int] = set()
    for most in range(6):  # the more shards there are, the later it is killed
        with subprocess.Popen([*command, str(tmp_path / "tokenizer")], stdout=PIPE, stderr=PIPE, text=True) as child:
            assert child.stdout is not None and child.stderr is not None
            child.stdout.readline()
            for _ in range(3000):
                found = len([*home().glob(f".tmp-tokens-*/{SHARDS}/0*.safetensors")])
                if found > most or child.poll() is not None:
                    break
                time.sleep(0.01)
            child.send_signal(signal.SIGKILL)
            assert "Traceback" not in child.stderr.read()  # of those that it had started, too
        draft_shards.add(found)
        assert not [each for each in every_prepared() if each.kind == "tokens" and each.whole]
    assert len(draft_shards) > 2
    on_cores(monkeypatch, 1)
    assert tokenised(sides(pairs, tokenizer), CUT).fingerprint == in_memory(pairs, tokenizer).fingerprint
    resumed = [(each.path / EXAMPLES).read_bytes() for each in every_prepared() if each.kind == "tokens"]
    monkeypatch.setattr(tokenise, "VERSION", 0)
    tokenised(sides(pairs, tokenizer), CUT)
    contents = [(each.path / EXAMPLES).read_bytes() for each in every_prepared() if each.kind == "tokens"]
    assert contents == [resumed[0], resumed[0]]


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_encodes_is_one_line(
    pairs: Pairs, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_cores(monkeypatch, 2)
    worker = tokenise._worker

    def short(draft: Path) -> subprocess.Popen[str]:
        child = worker(draft)
        child.kill()
        return child

    monkeypatch.setattr(tokenise, "_worker", short)
    with pytest.raises(FileError, match=r"a process that tokenised .* ended with code -9 .*run the command again"):
        tokenised(sides(pairs, tokenizer), CUT)
