"""`glassformer lessons`: all lessons, by chapter."""

from __future__ import annotations

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.words import language, say


def command(json: Json = False, lang: Lang = None, debug: Debug = False) -> None:
    from glassformer.lessons.index import chapters, entries

    found = entries(language())
    if json:
        print_json([entry.to_json() for entry in found])
        return
    from glassformer.show import Column, Table

    for number, (chapter, title) in enumerate(chapters(language()).items(), 1):
        name, *others = (say(f"lesson.columns.{column}") for column in ("name", "title", "claims"))
        table = Table(Column(name, "name"), *map(Column, others), title=f"{number}  {title}")
        for entry in found:
            if entry.chapter == chapter:
                table.add(entry.name, entry.title, ", ".join(entry.claims) or "–")
        print_rich(table, "")
    print_rich(say("lesson.how", count=len(found), claims=sum(len(entry.claims) for entry in found)))
