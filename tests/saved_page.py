"""A page that was saved as a file, opened again in Python: its index, and each answer that it holds."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from gzip import decompress
from typing import Any


class SavedPage:
    """What stands in the file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index: dict[str, Any] = json.loads(self.block("application/json", "saved"))

    def block(self, kind: str, name: str) -> str:
        (found,) = re.findall(f'<script type="{kind}" id="{name}">(.*?)</script>', self.text, re.DOTALL)
        return found

    def content(self, path: str, body: Mapping[str, Any]) -> bytes:
        (one,) = [each for each in self.index["answers"] if each["path"] == path and each["body"] == body]
        return decompress(b64decode(self.block("text/plain", one["block"])))

    def answer(self, path: str, body: Mapping[str, Any]) -> Any:
        return json.loads(self.content(path, body))

    def bodies(self, path: str) -> list[Any]:
        return [each["body"] for each in self.index["answers"] if each["path"] == path]
