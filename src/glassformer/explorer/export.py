"""The page with its present pass as one HTML file, which opens without a server, a network, or the model.

Scripts, styles, words and answers all stand in the file. Its policy allows only these scripts and styles, by their
hashes, and no request at all.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from gzip import compress
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any

from markupsafe import Markup

from glassformer.errors import InputError
from glassformer.explorer import fields
from glassformer.explorer.bundle import bundle
from glassformer.explorer.fields import Fields
from glassformer.explorer.kept import SavedAnswer, answered, around, passes, reasons, usual
from glassformer.explorer.passes import run
from glassformer.explorer.shelf import Offered
from glassformer.loading import Loaded, trained_folders
from glassformer.show.template import render
from glassformer.words import language

HERE = Path(__file__).parent
STATIC = HERE / "static"
REQUEST_KEYS = ("model", "checkpoint", "input", "edits", "layers", "follow", "address", "asked")
MOST_BYTES = 30_000_000  # of a file that can still be sent to a class
MOST_ASKED = 200
STYLES = re.compile(r'<link rel="stylesheet" href="/static/([^"]+)">')


def exported(offered: Offered, loaded: Loaded, request: Fields, lang: str | None = None) -> str:
    """The file, as text. Raises if it would be too large."""
    lang = lang or language()
    given, edits = fields.table("input", request.get("input", {})), fields.tables(request, "edits")
    asked = [_question(each) for each in fields.tables(request, "asked", MOST_ASKED)]
    begins, follow = fields.optional_text(request, "address"), _follow(request)
    seen, *before = passes(loaded, request, offered.name)
    kept = [seen[0], *(each for each, _ in before)]
    _refuse_too_large(kept)
    kept += around(offered, loaded)
    kept += answered(loaded, [*usual(loaded, edits), *asked], given)
    clicked = [body for path, body in asked if path == "/api/why"]
    with suppress(InputError):  # all layers at once may be too much for the reasons, which are then left out
        whole = seen[1] if request.get("layers") is None else run(loaded, {"input": given, "edits": edits})
        kept.append(reasons(whole, clicked, follow))
    shown = seen[1].given.shown
    blocks = _refuse_too_large(kept)
    index = {
        "question": {
            "model": offered.name,
            "checkpoint": fields.optional_text(request, "checkpoint") or "",
            "input": given,
        },
        "target": shown.get("target"),
        "layers": fields.wholes(request, "layers"),
        "address": begins or address(offered.name, given, lang),
        "command": command(offered),
        "answers": [
            {"path": each.path, "body": each.body, "block": f"saved-{at}", "type": each.type}
            for at, each in enumerate(kept)
        ],
    }
    return page(offered.name, index, blocks, lang)


def page(model: str, index: Mapping[str, Any], blocks: list[str], lang: str) -> str:
    """The whole file. In a block of JSON no tag can begin: "<" is written as an escape."""
    links = STYLES.findall((STATIC / "index.html").read_text(encoding="utf-8"))
    style = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in links)
    script = bundle(STATIC, "main.js")
    icon = (STATIC / "icon.svg").read_bytes()
    values = {
        "lang": lang,
        "model": model,
        "policy": policy(script, style),
        "icon": f"data:image/svg+xml;base64,{b64encode(icon).decode()}",
        "style": Markup(style),
        "index": Markup(json.dumps(index, ensure_ascii=False).replace("<", "\\u003c")),
        "blocks": blocks,
        "script": Markup(script),
    }
    return f"{render(HERE / 'saved.html', values)}\n"


def policy(script: str, style: str) -> str:
    """Only this script and this style; images that stand in the file; nothing from anywhere."""
    allowed = {"script": script, "style": style}
    hashes = {kind: b64encode(sha256(text.encode()).digest()).decode() for kind, text in allowed.items()}
    ours = "; ".join(f"{kind}-src 'sha256-{value}'" for kind, value in hashes.items())
    return f"default-src 'none'; {ours}; img-src data: blob:; base-uri 'none'; form-action 'none'"


def command(offered: Offered) -> str:
    """What opens the model again; the name of a folder that lies elsewhere is enough, its path concerns nobody."""
    folder = offered.folder
    near = folder not in trained_folders().values() and not folder.is_absolute() and ".." not in folder.parts
    return f"glassformer explore {quote(folder.as_posix() if near else offered.name)}"


def address(model: str, given: Fields, lang: str) -> str:
    """What the page begins with: the fields of its own address."""
    state = {"model": model, **{key: str(given[key]) for key in ("text", "target", "example") if key in given}}
    return "#" + urllib.parse.urlencode(state | {"lang": lang})


def _refuse_too_large(kept: list[SavedAnswer]) -> list[str]:
    """The answers as they stand in the file."""
    blocks = [b64encode(compress(each.content, 6, mtime=0)).decode() for each in kept]
    size = sum(map(len, blocks))
    if size > MOST_BYTES:
        raise InputError("explorer_export_large", megabytes=-(-size // 10**6), most=MOST_BYTES // 10**6)
    return blocks


def _question(given: Fields) -> tuple[str, Fields]:
    fields.known_keys(given, ("path", "body"))
    return fields.text(given, "path"), fields.table("body", given.get("body", {}))


def _follow(request: Fields) -> tuple[int, int]:
    """The rows that are followed, of source and target."""
    source, target = [*(fields.wholes(request, "follow") or []), 0, 0][:2]
    return source, target
