"""Chat: messages in the form that a model was trained to answer, written by the model's own template.

A template is foreign code: it runs in jinja2's sandbox and may change nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeGuard

from glassformer.errors import ConfigError, FileError, InputError, shown
from glassformer.loading import Loaded
from glassformer.tasks.language_model.write import Prompt
from glassformer.text import Marian, SentencePiece
from glassformer.text.frame import encode_typed
from glassformer.text.pipeline import Pipeline

Message = Mapping[str, Any]
CONFIG, TEMPLATE = "tokenizer_config.json", "chat_template.jinja"
LARGEST = 2**25  # bytes of a file of messages


def is_conversation(prompt: Any) -> TypeGuard[Sequence[Message]]:
    """A list of messages rather than of texts."""
    return isinstance(prompt, Sequence) and not isinstance(prompt, str) and any(isinstance(x, Mapping) for x in prompt)


def conversation(said: str | Sequence[Message], system: str | None = None) -> list[dict[str, Any]]:
    """A single text is the user's message; messages are checked, and that of the `system` comes first."""
    if isinstance(said, str):
        messages: list[dict[str, Any]] = [{"role": "user", "content": said}]
    else:
        messages = [_message(number, one) for number, one in enumerate(said, 1)]
    return messages if system is None else [{"role": "system", "content": system}, *messages]


def _message(number: int, one: Any) -> dict[str, Any]:
    if not isinstance(one, Mapping) or not isinstance(one.get("role"), str) or not isinstance(one.get("content"), str):
        raise InputError("chat_message", number=number, value=shown(one))
    return dict(one)


def read_messages(path: Path) -> list[dict[str, Any]]:
    """A JSON file: a list of messages, each with role and content."""
    try:
        if path.stat().st_size > LARGEST:
            raise FileError("file_too_large", path=path, size=path.stat().st_size, limit=LARGEST)
        table = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError("file_unreadable", path=path, why=error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise FileError("chat_file", path=path) from error
    if not isinstance(table, list):
        raise FileError("chat_file", path=path)
    return conversation(table)


def chat_prompt(loaded: Loaded, said: str | Sequence[Message], system: str | None = None) -> Prompt:
    """The conversation as the model's template writes it, up to the point where the model answers."""
    text = rendered(loaded, conversation(said, system))
    return Prompt(text, encode_typed(loaded.tokenizer, text))


def rendered(loaded: Loaded, messages: Sequence[Message]) -> str:
    """The template filled in; it may use the same names as in `transformers`."""
    template, names = _template(loaded)
    try:
        from jinja2 import TemplateError
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        from glassformer.tasks.language_model.chat_extension import GenerationTag
    except ImportError as error:
        raise ConfigError("needs_package", what="chat", package="jinja2") from error

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": raise_exception, "strftime_now": _now}
    known = {"tools": None, "documents": None, "add_generation_prompt": True, **names}
    try:
        return environment.from_string(template).render(messages=list(messages), **known)
    except (TemplateError, ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError("chat_template", model=loaded.folder.name, why=why) from error


def _to_json(
    x: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON without HTML escapes, unlike Jinja's own filter: a prompt is not a web page."""
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _template(loaded: Loaded) -> tuple[str, dict[str, str]]:
    """The template and the names of the special tokens, which templates write by role: bos_token, eos_token …"""
    tokenizer = loaded.tokenizer
    files = tokenizer.files if isinstance(tokenizer, Pipeline | SentencePiece | Marian) else {}
    table = json.loads(files.get(CONFIG, b"{}"))
    found = files[TEMPLATE].decode("utf-8", "replace") if TEMPLATE in files else table.get("chat_template")
    if isinstance(found, list):
        named = {one.get("name"): one.get("template") for one in found if isinstance(one, dict)}
        found = named.get("default", next(iter(named.values()), None))
    if not isinstance(found, str):
        raise InputError("no_chat_template", model=loaded.folder.name)
    names = {f"{role}_token": tokenizer.piece(token) for role, token in tokenizer.specials.ids().items()}
    declared = {key: value for key, value in table.items() if key.endswith("_token") and isinstance(value, str)}
    return found, names | declared
