"""Puts the shards of a run of `make fuzz` together: python tests/faults/fuzz_record.py FOLDER FILE."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glassformer.bench.record import Result
from glassformer.provenance import commit, machine, versions

COMMAND = "GLASSFORMER_FUZZ=1000000 pytest -m fuzz tests/faults/test_fuzz.py"
RECORD = Path(__file__).with_name("fuzz.json")


def together(shards: list[dict[str, Any]]) -> dict[str, Any]:
    """How many cases of each family were answered and refused; what failed; the seconds of all processes; the seeds."""
    families: dict[str, Counter[str]] = {}
    for shard in shards:
        for name, went in shard["went"].items():
            families.setdefault(name, Counter()).update(went)
    return {
        "count": sum(went.total() for went in families.values()),
        "families": {name: dict(went) for name, went in sorted(families.items())},
        "failures": [failure for shard in shards for failure in shard["failures"]],
        "seconds": sum(shard["seconds"] for shard in shards),
        "seeds": sorted(shard["seed"] for shard in shards),
    }


def main(folder: Path, path: Path) -> None:
    numbers = {
        kind: together([json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob(f"{kind}-*.json"))])
        for kind in ("cases", "commands")
    }
    found = Result("fuzz", COMMAND, numbers, commit(), versions(), machine())
    path.write_text(json.dumps(asdict(found), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
