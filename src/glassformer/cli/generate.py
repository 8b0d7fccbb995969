"""`glassformer generate [MODEL] [PROMPT]`: continues a text, shown while it is written; Ctrl-C stops it."""

from __future__ import annotations

import re
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glassformer.cli.lines import outside_training, read_arrived
from glassformer.cli.model_argument import model_and_input
from glassformer.cli.options import Checkpoint, Debug, Device, Dtype, Json, Lang, ObviousModel, Truncate, open_model
from glassformer.cli.output import print_json
from glassformer.errors import InputError, UsageError
from glassformer.words import say

if TYPE_CHECKING:
    from glassformer.tasks.language_model.write import Pen


UNFINISHED = re.compile(r"\w+$")  # the last word of a prompt may be unfinished


def command(
    model: ObviousModel = None,
    prompt: Annotated[str | None, typer.Argument(help=say("help.prompt"), metavar="PROMPT", show_default=False)] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", help=say("help.new_tokens"), show_default=False)] = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help=say("help.temperature"), show_default=False)
    ] = None,
    top_k: Annotated[int | None, typer.Option("--top-k", help=say("help.top_k"), show_default=False)] = None,
    top_p: Annotated[float | None, typer.Option("--top-p", help=say("help.top_p"), show_default=False)] = None,
    seed: Annotated[int | None, typer.Option("--seed", help=say("help.draw_seed"), show_default=False)] = None,
    beam: Annotated[int | None, typer.Option("--beam", help=say("help.beam_written"), show_default=False)] = None,
    stop: Annotated[list[str] | None, typer.Option("--stop", help=say("help.stop_text"), show_default=False)] = None,
    chat: Annotated[bool, typer.Option("--chat", help=say("help.chat"))] = False,
    system: Annotated[str | None, typer.Option("--system", help=say("help.system"), show_default=False)] = None,
    messages: Annotated[Path | None, typer.Option("--messages", help=say("help.messages"), show_default=False)] = None,
    show_prompt: Annotated[bool, typer.Option("--show-prompt", help=say("help.show_prompt"))] = False,
    special_tokens: Annotated[bool, typer.Option("--special-tokens", help=say("help.special_tokens"))] = False,
    truncate: Truncate = False,
    checkpoint: Checkpoint = "auto",
    device: Device = "auto",
    dtype: Dtype = "float32",
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.tasks.language_model.chat import chat_prompt, read_messages
    from glassformer.tasks.language_model.write import Pen, writing_for

    if system is not None and not (chat or messages):
        raise UsageError("system_without_chat")
    model, prompt = model_and_input("generate", model, prompt, 'MODEL "PROMPT"')
    loaded = open_model(model, checkpoint=checkpoint, device=device, dtype=dtype)
    writing = writing_for(
        loaded,
        tokens=tokens,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        beam=beam,
        stop=stop or (),
        truncate=truncate,
        special_tokens=special_tokens,
    )
    if writing.sampling is not None and seed is None:
        seed = secrets.randbelow(2**32)
        writing = replace(writing, seed=seed)
    if messages is not None:
        pen = Pen(loaded, chat_prompt(loaded, read_messages(messages), system), writing)
    else:
        said = _standard_input() if prompt is None else prompt
        pen = Pen(loaded, chat_prompt(loaded, said, system) if chat else said, writing)
    (outside,) = outside_training(loaded, [(UNFINISHED.sub("", pen.prompt), pen)])
    _write(pen, shown=not json, prompt=show_prompt or not (chat or messages))
    if json:
        print_json(vars(pen.written) | outside.to_json() | ({} if writing.sampling is None else {"seed": seed}))


def _standard_input() -> str:
    """The prompt from standard input; at a terminal, an empty prompt."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    lines = [line for some in read_arrived(sys.stdin.buffer) for line in some]
    for line in lines:
        if isinstance(line, InputError):
            raise line
    return "\n".join(map(str, lines))


def _write(pen: Pen, shown: bool, prompt: bool = True) -> None:
    """Write piece by piece; for a chat only the answer. Ctrl-C stops it and keeps what was written."""
    try:
        if shown and prompt:
            _show(pen.prompt)
        for piece in pen:
            if shown:
                _show(piece)
    except KeyboardInterrupt:
        pass
    if shown:
        print()


def _show(text: str) -> None:
    """Show text; on a terminal control characters are escaped, a file gets every character."""
    if sys.stdout.isatty():
        text = "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
    sys.stdout.write(text)
    sys.stdout.flush()
