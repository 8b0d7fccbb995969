"""`glassformer doctor`: versions, devices, fonts, data, what is missing and how to get it."""

from __future__ import annotations

from glassformer.cli.options import Debug, Json, Lang
from glassformer.cli.output import print_json, print_rich
from glassformer.words import say


def command(json: Json = False, lang: Lang = None, debug: Debug = False) -> int:
    from glassformer.doctor import examine

    findings = examine()
    healthy = all(finding.ok or finding.optional for finding in findings)
    if json:
        print_json({"ok": healthy, "findings": [finding.to_json() for finding in findings]})
        return 0 if healthy else 1
    from glassformer.show import Column, Styled, Table
    from glassformer.version import __version__

    table = Table(Column("", "name"), Column("", "name"), Column(), title=say("doctor.title", version=__version__))
    for finding in findings:
        mark = ("✓", "green") if finding.ok else ("·", "yellow") if finding.optional else ("✗", "red")
        table.add(Styled(*mark), finding.thing(), finding.text())
    print_rich(table, say("doctor.ok" if healthy else "doctor.not_ok"))
    return 0 if healthy else 1
