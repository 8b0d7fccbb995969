"""Plans in README and docs: a command of `glassformer plan`, and the parts that are to be shown of what it prints.

<!-- plan answer scales: paper-big --tokens 15B --device h200 -->
<!-- end -->

The command is written into the document as well. Without a device it measures the reader's machine; the document shows
what it says of the CPU on which a training step was recorded.
"""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser
from dataclasses import fields
from functools import lru_cache
from typing import get_args, get_type_hints

from glassformer.ledger.amounts import amount
from glassformer.ledger.devices import device_named
from glassformer.ledger.job import Job
from glassformer.ledger.plan import Plan, plan
from glassformer.ledger.show_plan import PLAN_PARTS
from glassformer.loading import open_config
from glassformer.show import Styled, Table
from glassformer.textbook.predictions import processor, steps_on

MARKED = re.compile(
    r"(?P<head><!-- plan(?P<parts>(?: \w+)+): (?P<words>[^\n]+) -->\n)(?:.*?)(?P<end><!-- end -->)", re.DOTALL
)


def rendered(text: str, lang: str) -> str:
    """A document with every marked plan filled in."""
    return MARKED.sub(lambda found: found["head"] + _shown(found, lang) + found["end"], text)


def _shown(found: re.Match[str], lang: str) -> str:
    made = asked(found["words"])
    parts = (part for name in found["parts"].split() for part in PLAN_PARTS[name](made, lang))
    written = f"```bash\nglassformer plan {found['words']}\n```\n"
    for part in map(_markdown, parts):
        goes_on = part.startswith("- ") and written.splitlines()[-1].startswith("- ")
        written += part if goes_on else f"\n{part}"
    return written + "\n"


def _markdown(part: str | Styled | Table) -> str:
    match part:
        case Table():
            return f"**{part.title}**\n\n{part.to_markdown()}\n"
        case Styled():
            return f"**{part.text}**\n"
    return f"{part}\n"


@lru_cache(maxsize=64)  # both languages ask for the same plans
def asked(words: str) -> Plan:
    """The plan that `glassformer plan WORDS` makes."""
    found = vars(_options().parse_args(shlex.split(words)))
    job = Job(**{field.name: found[field.name] for field in fields(Job)})
    config = open_config(found["model"])
    tokens = amount("tokens", found["tokens"])
    device = processor(next(steps_on(""))) if found["device"] is None else device_named(found["device"])
    given = {key: found[key] for key in _SHARES}
    return plan(found["model"], config, tokens=tokens, device=device, job=job, **given)


_SHARES = ("utilisation", "mfu", "price")


def _options() -> ArgumentParser:
    """A job's own fields, as the command line spells them."""
    parser = ArgumentParser(allow_abbrev=False)
    parser.add_argument("model")
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--device")
    for key in _SHARES:
        parser.add_argument(f"--{key}", type=float)
    for field in fields(Job):
        option, kind = f"--{field.name.replace('_', '-')}", get_type_hints(Job)[field.name]
        if kind is bool:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=int if int in (kind, *get_args(kind)) else str, default=field.default)
    return parser
