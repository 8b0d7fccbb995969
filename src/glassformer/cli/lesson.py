"""`glassformer lesson NAME`: text, numbers, verdicts and picture of one lesson, from its result or measured now."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glassformer.cli.options import Debug, Force, Json, Lang
from glassformer.cli.output import print_json, print_rich, warn_of_fonts
from glassformer.errors import UsageError
from glassformer.words import language, say


def command(
    name: Annotated[str, typer.Argument(help=say("help.lesson_name"), metavar="NAME", show_default=False)],
    depth: Annotated[str, typer.Option("--depth", help=say("help.depth"))] = "easy",
    fresh: Annotated[bool, typer.Option("--fresh", help=say("help.lesson_fresh"))] = False,
    picture: Annotated[
        Path | None, typer.Option("--picture", help=say("help.picture_file"), show_default=False)
    ] = None,
    force: Force = False,
    json: Json = False,
    lang: Lang = None,
    debug: Debug = False,
) -> None:
    from glassformer.lessons.catalogue import module_of

    module_of(name)
    if depth not in ("easy", "deep"):
        raise UsageError("usage_bad_value", name="--depth", value=depth, expected="easy, deep")
    from glassformer.cli.measuring import Bars
    from glassformer.lessons.measuring import with_lesson
    from glassformer.lessons.trained_models import cache
    from glassformer.lessons.view import LessonView, check_lesson_picture
    from glassformer.runs.output import claim

    if picture is not None:
        check_lesson_picture(picture)
        claim(picture, force=force)
    results = with_lesson(name, fresh=fresh, audience=Bars(quiet=json))
    warn_of_fonts()
    view = LessonView(name, language(), results)
    if not json:
        print_rich(view.shown(depth))  # before the picture: if no file can be written, there is still a text to read
    path = view.save(picture or cache() / "pictures" / f"{name}.{language()}.svg")
    if json:
        print_json({**view.to_json(), "picture": str(path)})
    else:
        print_rich(say("lesson.picture_in", path=path))
