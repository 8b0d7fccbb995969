"""Tables of README and docs: benchmarks, plans, verdicts of the lessons, trained models; no number is typed by hand.

Pictures of benchmarks are drawn from the same records.

<!-- verdicts -->
<!-- end -->

The four words of a verdict go between <!-- meanings --> and <!-- end -->, the list of the trained models between
<!-- models --> and <!-- end -->, and what their cards say about them between <!-- cards --> and <!-- end -->. What is
predicted of the steps that were recorded goes between <!-- predictions --> and <!-- end -->; plans: see plans.py.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from glassformer.bench import record as of_benchmarks
from glassformer.files import write_text
from glassformer.lessons.catalogue import LESSONS
from glassformer.lessons.lesson_results import condition, says
from glassformer.lessons.record import RECORDED, LessonResult
from glassformer.lessons.texts import tables
from glassformer.lessons.verdict import WORDS
from glassformer.sharing import ModelCard, trained_models
from glassformer.show import Column, Table
from glassformer.textbook import plans
from glassformer.textbook.predictions import prediction_table
from glassformer.words import say

_MARKED = re.compile(
    r"(?P<head><!-- (?P<what>verdicts|meanings|models|cards|predictions) -->\n)(?:.*?)(?P<end><!-- end -->)", re.DOTALL
)

IN_DOCUMENTS = ("score", "score_before", "groups", "beside", "data", "command", "parameters", "sha256")  # of a card
TYPED = ("command", "sha256")  # facts that are copied letter by letter


def verdicts(lang: str) -> str:
    """Every claim, its verdict, what was measured, and the command that measures it again."""
    table = Table(*(Column(say(f"tables.{key}", lang)) for key in ("claim", "verdict", "measured", "command")))
    for name in LESSONS:
        result = LessonResult.read(RECORDED / f"{name}.json")
        for claim, verdict in result.verdicts().items():
            texts = tables(lang, "lessons", name)["claims"][claim]
            said = says(texts["measured"], verdict, lang)
            if (under := condition(texts["condition"], verdict)) is not None:
                said += f" {under}"
            word = say(f"verdicts.{verdict.verdict}", lang)
            table.add(texts["claim"], f"**{word}**", said, f"`glassformer claims {claim} --fresh`")
    return table.to_markdown() + "\n"


def meanings(lang: str) -> str:
    """What each word of a verdict means."""
    return "".join(f"- **{say(f'verdicts.{word}', lang)}**: {say(f'meanings.{word}', lang)}\n" for word in WORDS)


def model_list(lang: str) -> str:
    """Every trained model of the package with its score, size and licence."""
    return trained_models().table(lang, "`").to_markdown() + "\n"


def model_cards(lang: str) -> str:
    """What is to be known about each trained model, and its facts: trained by which command, scored how."""
    return "".join(_model(card, lang) for card in trained_models().cards)


def _model(card: ModelCard, lang: str) -> str:
    facts = card.facts(lang)
    told = {key: f"`{facts[key]}`" if key in TYPED else facts[key] for key in IN_DOCUMENTS if key in facts}
    lines = [f"- {say(f'models.{key}', lang)}: {fact}\n" for key, fact in told.items()]
    return f"### {card.name}\n\n{' '.join(card.says(lang))}\n\n{''.join(lines)}\n"


def render(text: str, lang: str) -> str:
    """A document with every marked table filled in."""
    made = {"verdicts": verdicts, "meanings": meanings, "models": model_list, "cards": model_cards}
    made |= {"predictions": prediction_table}
    found = _MARKED.sub(lambda found: found["head"] + made[found["what"]](lang) + found["end"], text)
    return of_benchmarks.render(plans.rendered(found, lang), lang)


def main(root: Path) -> int:
    """Fill in the tables of a checkout and draw its pictures; returns how many documents changed."""
    of_benchmarks.write_pictures(root)
    changed = 0
    for path, lang in of_benchmarks.documents(root):
        text = path.read_text(encoding="utf-8")
        filled = render(text, lang)
        if filled != text:
            write_text(path, filled, durable=False)
            changed += 1
    return changed


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
