from __future__ import annotations

import json
from pathlib import Path

import pytest

from glassformer.bench.record import documents
from glassformer.ledger.show_plan import PLAN_PARTS
from glassformer.textbook.plans import MARKED, asked, rendered
from typed import typed

ROOT = Path(__file__).parents[2]
MARKS = {found for path, _ in documents(ROOT) for found in MARKED.finditer(path.read_text(encoding="utf-8"))}
COMMANDS = sorted({found["words"] for found in MARKS})
SMALL = "gpt2 --tokens 1B --device h100 --devices 16 --parallel ddp --batch 4"


@pytest.mark.many
@pytest.mark.parametrize("words", [words for words in COMMANDS if "--device " in words])
def test_a_document_shows_what_the_command_prints(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = typed("plan")(capsys, *words.split(), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(asked(words).to_json()))


def test_the_documents_plan_a_laptop_a_device_a_node_and_a_cluster() -> None:
    plans = [asked(words) for words in COMMANDS]
    assert {made.job.devices for made in plans} >= {1, 8, 32, 256}
    assert any(not made.device.accelerator for made in plans)
    assert all(made.fits for made in plans if made.device.accelerator)


def test_every_option_of_a_job_is_understood(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"{SMALL} --length 128 --accumulate 3 --dtype float16 --precision pure --optimizer lion --no-sync"
    words += " --checkpointing full --causal triangle --loss whole --mfu 0.3 --price 2.5"
    code, out, _ = typed("plan")(capsys, *words.split(), "--json")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(asked(words).to_json()))
    assert asked(words).job.no_sync and asked(words).cost is not None


@pytest.mark.parametrize(("lang", "title"), [("en", "**one step**"), ("ko", "**한 스텝**")])
def test_the_parts_that_are_asked_for_are_shown_in_their_order(lang: str, title: str) -> None:
    text = f"before\n<!-- plan step verdict assumptions: {SMALL} -->\nold\n<!-- end -->\nafter\n"
    filled = rendered(text, lang)
    head = f"before\n<!-- plan step verdict assumptions: {SMALL} -->\n```bash\nglassformer plan {SMALL}\n```"
    assert filled.startswith(f"{head}\n\n{title}\n\n| ")
    assert filled.endswith("\n\n<!-- end -->\nafter\n") and "old" not in filled
    assert "\n- h100: NVIDIA H100 SXM" in filled and "\n\n\n" not in filled
    assert rendered(filled, lang) == filled


def test_every_part_of_a_plan_can_be_shown() -> None:
    filled = rendered(f"<!-- plan {' '.join(PLAN_PARTS)}: {SMALL} -->\n<!-- end -->", "en")
    assert all(
        text in filled for text in ("**answer**", "**memory of one device**", "Chinchilla", "10,000", "**Assumed:**")
    )


def test_without_a_device_it_is_the_cpu_that_was_recorded() -> None:
    made = asked("paper-base --tokens 1M --batch 16 --length 32")
    assert made.device.name == "this-machine" and not made.device.accelerator
    assert made.reached is not None and made.reached.step.accelerator == ""
    assert made.limit == "compute" and made.step == pytest.approx(made.compute)
