"""Large texts as tokens, made once: shard by shard, on all cores, into one mapped file that every later run finds.

A shard that is finished stays if the process is killed, and the same shards give the same file on any number of cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from queue import Queue
from typing import Any

import sentencepiece
import tokenizers

from glassformer.data.cut import Cut
from glassformer.data.prepared import prepared
from glassformer.data.shard import JOB, SHARDS, ShardJob, shard_path, write_shard
from glassformer.data.store import Store, joined_file
from glassformer.data.stored_texts import StoredTexts
from glassformer.data.watching import tell
from glassformer.errors import FileError
from glassformer.files import remove_folder, write_bytes, write_json
from glassformer.text import Tokenizer

EXAMPLES = "examples.safetensors"
VERSION = 1  # of the encoding: another one encodes again
SHARD = 2**15  # examples
MOST_WORKERS = 64


@dataclass(frozen=True)
class TextColumn:
    """One column of texts, and what makes tokens of it."""

    texts: StoredTexts
    tokenizer: Tokenizer


def tokenised(sides: Mapping[str, TextColumn], cut: Cut) -> Store:
    """The tokens of all texts, cut, as a mapped store; a field for each side."""
    key = {
        "texts": {name: side.texts.mark for name, side in sides.items()},
        "tokenizers": {name: tokenizer_mark(side.tokenizer) for name, side in sides.items()},
        "libraries": [tokenizers.__version__, sentencepiece.__version__],
        "cut": asdict(cut),
        "version": VERSION,
    }
    return Store.open(prepared("tokens", key, lambda draft: _make(draft, sides, cut)) / EXAMPLES)


def tokenizer_mark(tokenizer: Tokenizer) -> str:
    """A hash of the files of a tokenizer."""
    digest = sha256()
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(folder)
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:24]


def _make(draft: Path, sides: Mapping[str, TextColumn], cut: Cut) -> None:
    if not (draft / EXAMPLES).is_file():
        count = len(next(iter(sides.values())).texts)
        shards = -(-count // SHARD)
        _write_job(draft, sides, cut)
        _encode(draft, [number for number in range(shards) if not _is_whole(draft, number)], count)
        tell("joining", count)
        joined_file(draft / EXAMPLES, [shard_path(draft, number) for number in range(shards)])
    if (draft / SHARDS).is_dir():
        remove_folder(draft / SHARDS)


def _write_job(draft: Path, sides: Mapping[str, TextColumn], cut: Cut) -> None:
    """What a worker must know, in files."""
    (draft / SHARDS).mkdir(exist_ok=True)
    columns = []
    for name, side in sides.items():
        side.tokenizer.save(draft / SHARDS / name)
        texts, rows = side.texts, None
        if texts.rows is not None:
            rows = f"{SHARDS}/{name}.rows"
            write_bytes(draft / rows, texts.rows.tobytes())
        columns.append([name, str(texts.folder), texts.name, rows, texts.prepare])
    write_json(draft / SHARDS / JOB, {"columns": columns, "cut": asdict(cut), "size": SHARD})


def _is_whole(draft: Path, number: int) -> bool:
    path = shard_path(draft, number)
    try:
        return path.is_file() and bool(Store.open(path).fields)
    except FileError:
        return False


def _encode(draft: Path, numbers: Sequence[int], count: int) -> None:
    """The shards with these numbers, on as many cores as there are; at most one in work and one waiting for each."""
    workers = min(len(os.sched_getaffinity(0)), len(numbers), MOST_WORKERS)
    done = count - len(numbers) * SHARD
    tell("tokens", max(done, 0), count)
    encoded = _here(draft, numbers) if workers < 2 or not sys.executable else _elsewhere(draft, numbers, workers)
    for _ in encoded:
        done += SHARD
        tell("tokens", min(max(done, 0), count), count)


def _here(draft: Path, numbers: Iterable[int]) -> Iterator[int]:
    job = ShardJob.open(draft)
    for number in numbers:
        write_shard(job, number)
        yield number


def _elsewhere(draft: Path, numbers: Sequence[int], workers: int) -> Iterator[int]:
    """In processes that know nothing of torch; each is handed a number, and answers when its shard is on the disk."""
    free: Queue[subprocess.Popen[str]] = Queue()
    every = [_worker(draft) for _ in range(workers)]
    for worker in every:
        free.put(worker)

    def encode(number: int) -> int:
        worker = free.get()
        try:
            return _ask(worker, number, draft)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(workers) as threads:
        try:
            left = iter(numbers)
            working = {threads.submit(encode, number) for number in islice(left, workers)}
            while working:
                ready, working = wait(working, return_when=FIRST_COMPLETED)
                for each in ready:
                    yield each.result()
                    working |= {threads.submit(encode, number) for number in islice(left, 1)}
        finally:
            for worker in every:
                worker.kill()  # whatever it has not finished is no shard
                worker.wait()
                for end in (worker.stdin, worker.stdout):
                    with suppress(OSError):  # what it was never told cannot be written any more
                        assert end is not None
                        end.close()


def _worker(draft: Path) -> subprocess.Popen[str]:
    package = Path(__file__).parents[2]
    path = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH", ""))))
    one = dict.fromkeys(("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-m", "glassformer.data.shard", str(draft)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **one, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is meant for the parent, which ends its workers
    )


def _ask(worker: subprocess.Popen[str], number: int, draft: Path) -> int:
    assert worker.stdin is not None and worker.stdout is not None
    try:
        worker.stdin.write(f"{number}\n")
        worker.stdin.flush()
        answer = worker.stdout.readline()
    except (OSError, ValueError):  # it has ended
        answer = ""
    if not answer:
        raise FileError("tokenising_ended", path=draft, code=worker.wait())
    said: dict[str, Any] = json.loads(answer)
    if "key" in said:
        raise FileError(said["key"], **said["values"])
    return number
