"""Runs one lesson or trains one model in its own process: `python -m glassformer.lessons.worker lesson NAME FOLDER`.

Progress goes to standard output as lines of JSON; an error is one line on standard error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from glassformer.errors import GlassformerError
from glassformer.words import language

OFTEN = 0.2  # seconds between two lines at least


class Teller:
    """A `LessonSetup.watch` that writes lines. Ends the process when nobody reads them: its parent is gone."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._last = 0.0

    def __call__(self, what: str, share: float) -> None:
        now = time.monotonic()
        if now - self._last >= OFTEN or share >= 1.0:
            self._last = now
            self.stream.write(json.dumps({"what": what, "share": round(share, 4)}) + "\n")
            self.stream.flush()


def main(arguments: Sequence[str]) -> int:
    """Measure a lesson into a folder, or train a model into the cache."""
    from glassformer.lessons.record import measure, setup_of
    from glassformer.lessons.trained_models import trained

    kind, name, folder = arguments
    watch = Teller(sys.stdout)
    try:
        if kind == "model":
            trained(name, watch)
        else:
            measure(name, setup_of(name, watch)).write(Path(folder))
    except GlassformerError as error:
        sys.stderr.write(" ".join(error.in_language(language()).split()) + "\n")
        return 1
    except BrokenPipeError:
        sys.stdout = None
        return 1
    except KeyboardInterrupt:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
