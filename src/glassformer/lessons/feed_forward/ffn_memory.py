"""Where facts are stored: a small model learns facts and a rule, then sub-layers are switched off one by one.

Claim ffn-memory; the rule is in `verdicts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glassformer.config.model import ModelConfig
from glassformer.config.values import Choice
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.statistics import difference, interval, within_one
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, greater
from glassformer.models.build import build
from glassformer.show.drawing import bars
from glassformer.show.theme import Theme
from glassformer.trace.edit import Change, edit, zero
from glassformer.trace.record import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WORDS = 48  # for subjects and objects alike, so guessing is equally hard in both tasks
RELATIONS = 6
BEGIN, COPY, FIRST_WORD = 0, 1, 2 + RELATIONS  # the tokens: begin, copy, relations, words
LAYERS = 2
RARE = 0.2  # share of the pairs to copy that training never shows
COPIES = 96  # per step, in addition to all facts
TOP = 8  # hidden units that count as a fact's own
RATE = 3e-3
CONFIG = ModelConfig(
    family="decoder",
    vocab_size=FIRST_WORD + WORDS,
    max_len=4,
    d_model=48,
    n_heads=4,
    d_ff=192,
    n_decoder_layers=LAYERS,
    norm_order="pre",
    position=Choice("learned"),
    tie_embeddings="all",
    head=Choice("language_model"),
)
SUBLAYERS = {"attention": "self_attention", "feed_forward": "feed_forward"}
STEPS = 250


def run(setup: LessonSetup) -> Data:
    """Each seed has its own facts and its own model."""
    seen: list[dict[str, Any]] = []
    for seed in setup.each("training", setup.seeds):
        model, asked = taught(seed, setup.some(STEPS))
        found = {kind: switched_off(model, questions) for kind, questions in asked.items()}
        seen.append({**found, "units": units(model, asked["facts"], seed)})
    parts = list(seen[0]["facts"])
    right = {kind: {part: interval([one[kind][part] for one in seen]) for part in parts} for kind in ("facts", "copy")}
    return {
        "facts_taught": WORDS * RELATIONS,
        "words": WORDS,
        "relations": RELATIONS,
        "layers": LAYERS,
        "d_model": CONFIG.d_model,
        "d_ff": CONFIG.d_ff,
        "chance": 1 / WORDS,
        "steps": STEPS,
        **right,
        "specific": {name: _specific(seen, name) for name in ("feed_forward", "attention")},
        "more_specific": difference(_surplus(seen, "feed_forward"), _surplus(seen, "attention")),
        "units": {
            "top": seen[0]["units"]["top"],
            "of": seen[0]["units"]["of"],
            **{kind: interval([one["units"][kind] for one in seen]) for kind in ("own", "of_another", "any")},
        },
    }


def _surplus(seen: list[dict[str, Any]], name: str) -> list[float]:
    """How much more accuracy facts lose than copying, with all sub-layers of a kind switched off."""
    lost = {kind: [one[kind]["nothing"] - one[kind][f"{name}_all"] for one in seen] for kind in ("facts", "copy")}
    return [of_facts - of_copy for of_facts, of_copy in zip(lost["facts"], lost["copy"], strict=True)]


def _specific(seen: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return interval(_surplus(seen, name))


# --- facts and a rule taught to one small decoder ---


@dataclass(frozen=True)
class Questions:
    """Questions of three tokens, and the token that comes next."""

    tokens: Tensor  # n 3
    answers: Tensor  # n


def facts(random: torch.Generator) -> Questions:
    """One random object for every subject and relation: there is no rule to find."""
    subject = torch.arange(WORDS).repeat(RELATIONS) + FIRST_WORD
    relation = torch.arange(RELATIONS).repeat_interleave(WORDS) + 2
    answers = torch.randint(WORDS, (len(subject),), generator=random) + FIRST_WORD
    return Questions(torch.stack([torch.full_like(subject, BEGIN), subject, relation], 1), answers)


def copies(random: torch.Generator) -> tuple[Questions, Questions]:
    """Two words and the word "copy": the answer is the first word. Training pairs, and pairs never shown."""
    first = torch.arange(WORDS).repeat(WORDS) + FIRST_WORD
    second = torch.arange(WORDS).repeat_interleave(WORDS) + FIRST_WORD
    tokens = torch.stack([first, second, torch.full_like(first, COPY)], 1)
    kept = torch.rand(len(tokens), generator=random) < RARE
    return Questions(tokens[~kept], first[~kept]), Questions(tokens[kept], first[kept])


def taught(seed: int, steps: int) -> tuple[nn.Module, dict[str, Questions]]:
    """A decoder trained for `steps` on all facts and some copies; the facts, and copies it has not seen."""
    random = torch.Generator().manual_seed(seed)
    known, (shown, unseen) = facts(random), copies(random)
    model = build(CONFIG, seed=seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / 20) * (1 - step / steps)
        chosen = torch.randint(len(shown.tokens), (COPIES,), generator=random)
        tokens = torch.cat([known.tokens, shown.tokens[chosen]])
        answers = torch.cat([known.answers, shown.answers[chosen]])
        optimizer.zero_grad()
        F.cross_entropy(model(tokens)[:, -1], answers).backward()
        optimizer.step()
    return model.eval(), {"facts": known, "copy": unseen}


@torch.no_grad()
def right(model: nn.Module, asked: Questions) -> float:
    """The share of questions whose answer is the likeliest next token."""
    return float((model(asked.tokens)[:, -1].argmax(-1) == asked.answers).double().mean())


def switched_off(model: nn.Module, asked: Questions) -> dict[str, float]:
    """Accuracy with nothing, one sub-layer, or all sub-layers of a kind switched off."""
    off: dict[str, dict[str, Change]] = {"nothing": {}} | {
        f"{name}_{layer if layer is not None else 'all'}": {
            f"decoder.blocks.{'*' if layer is None else layer}.{path}.output": zero()
        }
        for name, path in SUBLAYERS.items()
        for layer in (None, *range(LAYERS))
    }
    found = {}
    for name, edits in off.items():
        with edit(model, edits):
            found[name] = right(model, asked)
    return found


def units(model: nn.Module, known: Questions, seed: int) -> dict[str, Any]:
    """Recall when each fact loses its own most active hidden units, those of another fact, or random ones."""
    names = [f"decoder.blocks.{layer}.feed_forward.hidden" for layer in range(LAYERS)]
    with record(model, names) as trace, torch.no_grad():
        model(known.tokens)
    own = {name: _strongest(trace[name][:, -1]) for name in names}  # n d_ff
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(known.answers), generator=random)
    chosen = {
        "own": own,
        "of_another": {name: mask[order] for name, mask in own.items()},
        "any": {name: _strongest(torch.rand(mask.shape, generator=random)) for name, mask in own.items()},
    }
    found: dict[str, Any] = {"top": TOP, "of": CONFIG.d_ff}
    for kind, masks in chosen.items():
        with edit(model, {name: _without(mask) for name, mask in masks.items()}):
            found[kind] = right(model, known)
    return found


def _strongest(hidden: Tensor) -> Tensor:
    """True at the largest units of each row."""
    mask = torch.zeros_like(hidden, dtype=torch.bool)
    return mask.scatter(1, hidden.topk(TOP, dim=1).indices, True)  # n d_ff


def _without(mask: Tensor) -> Change:
    return lambda hidden: hidden.masked_fill(mask[:, None], 0.0)  # n t d_ff


def verdicts(data: Data) -> dict[str, Verdict]:
    """Switching off the sub-layers that store facts must hurt facts more than a rule that needs none.

    Switching attention off also cuts the path from subject to answer, so its damage to facts alone says nothing: the
    damage to copying, which needs the path but no fact, is subtracted. The claim has two parts: with all feed-forward
    networks off, facts lose more than copying, and this surplus is larger than attention's.
    """
    parts = {
        "stored": greater(data["specific"]["feed_forward"]),
        "more": greater(data["more_specific"]),
    }
    measured = {
        "facts": data["facts"],
        "copy": data["copy"],
        "feed_forward": data["specific"]["feed_forward"],
        "attention": data["specific"]["attention"],
        "more": data["more_specific"],
    }
    return {"ffn-memory": Verdict.of({"feed_forward": parts}, measured)}


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Left: sub-layers switched off. Right: hidden units switched off."""
    figure = theme.figure(10, 4.6)
    parts, units = figure.subplots(1, 2, width_ratios=(2.2, 1))
    names = list(data["facts"])
    labels = [_label(words, name) for name in names]
    groups = {words(kind): [within_one(data[kind][name]) for name in names] for kind in ("facts", "copy")}
    bars(parts, theme, labels, groups, form=".0%", horizontal=True)
    _as_share(parts, data["chance"], theme, words)
    parts.set_title(words("switched_off"))
    parts.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    kinds = ("own", "of_another", "any")
    recall = {words("facts"): [within_one(data["units"][kind]) for kind in kinds]}
    bars(units, theme, [words(kind) for kind in kinds], recall, form=".0%", horizontal=True)
    _as_share(units, data["chance"], theme, words)
    units.set_title(words("units", top=data["units"]["top"], of=data["units"]["of"]))
    return figure


def _label(words: PictureWords, name: str) -> str:
    part, _, layer = name.rpartition("_")
    if name == "nothing":
        return words("nothing")
    return words(f"{part}_all") if layer == "all" else words(part, layer=int(layer) + 1)


def _as_share(axes: Axes, chance: float, theme: Theme, words: PictureWords) -> None:
    axes.set_xlim(0, 1.15)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.axvline(chance, color=theme.muted, linestyle=":", linewidth=1.2)
    axes.set_xlabel(words("right"))


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("ffn-memory",),
    equation=r"\mathrm{FFN}(x)=\sum_{i=1}^{d_{\text{ff}}}\max(0,\,x\cdot k_i)\,v_i",
    formula="FFN(x) = Σ_i max(0, x·k_i) v_i",
    paper="§3.3; Geva et al. 2021",
    sources=("layers/feed_forward/mlp.py", "trace/edit.py"),
)
