"""Where the parameters are: the ledgers of the named models by part, each checked against the built model.

Claims count-classifier, count-lesson, attention-most and ffn-two-thirds; the rules are in `verdicts`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from glassformer.config.model import ModelConfig
from glassformer.ledger.parameters import count
from glassformer.ledger.rows import ParameterRow, Total, rows_of_box
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.setup import LessonSetup
from glassformer.lessons.texts import PictureWords
from glassformer.lessons.verdict import Verdict, exact
from glassformer.models.block import EncoderBlock
from glassformer.models.build import build
from glassformer.models.presets import PRESETS
from glassformer.show.drawing import hover
from glassformer.show.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


NAMED = ("mini-classifier", "paper-base", "bert-base", "gpt2", "llama2-7b", "llama3-8b")
PARTS = ("embedding", "attention", "feed_forward", "norm", "head")
BLOCK: dict[str, Any] = {"d_model": 512, "n_heads": 8, "d_ff": 2048}
# what is claimed: the rows of a small classifier, and the encoder of a lesson in two sizes
CLASSIFIER = {
    "token_embedding": 976_704,
    "positions_fixed": 12_800,
    "positions_trained": 0,
    "qkv": 3_168,
    "attention_output": 1_056,
    "attention": 4_224,
    "norm": 64,
    "feed_forward": 2_112,
    "classifier": 33,
    "one_layer": 983_201,
    "five_layers": 1_009_057,
}
LESSON_ENCODER = {"six_layers": 4_739_072, "one_of_them": 789_760, "final_norm": 512, "block": 3_152_384}
ABOUT = 0.05  # "about 2/3": within 5 points


def run(setup: LessonSetup) -> Data:
    """The ledger of every named model. It needs no weights, so the largest are counted as quickly as the smallest."""
    models = [_model(name, PRESETS[name]()) for name in setup.each("model", NAMED)]
    return {
        "models": models,
        "by_name": {row["name"]: row for row in models},
        "classifier": _classifier(PRESETS["mini-classifier"]()),
        "lesson": _lesson(PRESETS["lesson-encoder"]()),
        "feed_forward": _feed_forward(PRESETS["paper-base"]()),
    }


def built(config: ModelConfig) -> int:
    """The parameters of the built model, tied ones counted once; on the device "meta" it takes no memory."""
    return sum(parameter.numel() for parameter in build(config, device="meta").parameters())


def part_of(row: ParameterRow) -> str:
    """The part of the model that a row of the ledger belongs to."""
    steps = row.name.split(".")
    if steps[0] == "head":
        return "head"
    if {"self_attention", "cross_attention"} & set(steps):
        return "attention"
    if "feed_forward" in steps:
        return "feed_forward"
    return "norm" if any(step.endswith("norm") for step in steps) else "embedding"


def shares(rows: Iterable[ParameterRow]) -> dict[str, float]:
    """Each part's share of the parameters of some rows."""
    rows = list(rows)
    whole = Total.of(rows).parameters
    return {part: Total.of(row for row in rows if part_of(row) == part).parameters / whole for part in PARTS}


def _model(name: str, config: ModelConfig) -> dict[str, Any]:
    rows = count(name, config).parts
    layers = [row for row in rows if ".blocks." in row.name]
    return {
        "name": name,
        "total": Total.of(rows).parameters,
        "built": built(config),
        "layers": Total.of(layers).parameters,
        "of_model": shares(rows),
        "of_layers": shares(layers),
    }


def _classifier(config: ModelConfig) -> dict[str, Any]:
    ledger, single = count("five", config), replace(config, n_encoder_layers=1)
    layer = "encoder.blocks.0"
    counted = {
        "token_embedding": ledger.part("embedding").parameters,
        "positions_fixed": ledger.part("encoder.positions").buffers,
        "positions_trained": ledger.part("encoder.positions").trained,
        "qkv": ledger.part(f"{layer}.self_attention.qkv").parameters,
        "attention_output": ledger.part(f"{layer}.self_attention.w_o").parameters,
        "attention": ledger.part(f"{layer}.self_attention").parameters,
        "norm": ledger.part(f"{layer}.self_attention_norm").parameters,
        "feed_forward": ledger.part(f"{layer}.feed_forward").parameters,
        "classifier": ledger.part("head").parameters,
        "one_layer": count("one", single).total.parameters,
        "five_layers": ledger.total.parameters,
    }
    return {"claimed": CLASSIFIER, "counted": counted, "built_one": built(single), "built_five": built(config)}


def _lesson(config: ModelConfig) -> dict[str, Any]:
    ledger = count("lesson-encoder", config)
    counted = {
        "six_layers": ledger.total.parameters,
        "one_of_them": ledger.part("encoder.blocks.0").parameters,
        "final_norm": ledger.part("encoder.final_norm").parameters,
        "block": Total.of(rows_of_box(EncoderBlock, BLOCK)).parameters,
    }
    block = sum(parameter.numel() for parameter in EncoderBlock(**BLOCK).parameters())
    return {"claimed": LESSON_ENCODER, "counted": counted, "built_six": built(config), "built_block": block}


def _feed_forward(config: ModelConfig) -> dict[str, float]:
    rows = count("paper-base", config).parts

    def share(path: str) -> float:
        return shares(row for row in rows if row.name.startswith(path))["feed_forward"]

    return {
        "encoder_layer": share("encoder.blocks.0."),
        "decoder_layer": share("decoder.blocks.0."),
        "whole_model": share(""),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """All exact, as counts are integers: every claimed count equals the ledger's and the built model's.

    attention-most: attention is the largest part; the sides are the named models, each whole and its layers alone.
    ffn-two-thirds: 2/3 within 5 points; the sides are an encoder layer, a decoder layer and the whole base model.
    """
    classifier, lesson = data["classifier"], data["lesson"]
    right = {
        "count-classifier": classifier["claimed"] == classifier["counted"]
        and classifier["built_one"] == classifier["counted"]["one_layer"]
        and classifier["built_five"] == classifier["counted"]["five_layers"],
        "count-lesson": lesson["claimed"] == lesson["counted"]
        and lesson["built_six"] == lesson["counted"]["six_layers"]
        and lesson["built_block"] == lesson["counted"]["block"],
    }
    measured = {
        "count-classifier": {**classifier["counted"], "built": classifier["built_five"]},
        "count-lesson": {**lesson["counted"], "built": lesson["built_six"]},
    }
    found = {claim: Verdict.of(exact(right[claim]), measured[claim]) for claim in right}
    return {**found, "attention-most": verdict_most(data), "ffn-two-thirds": verdict_thirds(data)}


def verdict_most(data: Data) -> Verdict:
    """See `verdicts`."""
    sides = {
        f"{row['name']}/{whole}": exact(max(row[whole], key=row[whole].get) == "attention")
        for row in data["models"]
        for whole in ("of_model", "of_layers")
    }
    measured = {
        **{name.replace("-", "_").replace(".", "_"): row for name, row in data["by_name"].items()},
    }
    return Verdict.of(sides, measured)


def verdict_thirds(data: Data) -> Verdict:
    """See `verdicts`."""
    sides = {place: exact(abs(share - 2 / 3) <= ABOUT) for place, share in data["feed_forward"].items()}
    return Verdict.of(sides, dict(data["feed_forward"]))


STRENGTH = 0.42  # opacity of a bar that has a number printed on it
WIDE_ENOUGH = 0.09  # the smallest share with room for its number


def draw(data: Data, theme: Theme, words: PictureWords) -> Figure:
    """Two panels: left the whole model, right its layers alone."""
    figure = theme.figure(10, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, whole in zip(panels, ("of_model", "of_layers"), strict=True):
        _stacked(axes, theme, words, data["models"], whole)
        axes.set_title(words(whole))
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _stacked(axes: Axes, theme: Theme, words: PictureWords, models: list[dict[str, Any]], whole: str) -> None:
    colours = dict(zip(PARTS, (theme.sky, theme.vermilion, theme.blue, theme.green, theme.purple), strict=True))
    for at, row in enumerate(models):
        left = 0.0
        for part in PARTS:
            share = row[whole][part]
            label = words(part) if at == 0 else None
            (bar,) = axes.barh(at, share, 0.72, left=left, color=(colours[part], STRENGTH), label=label)
            hover(bar, f"{row['name']} · {words(part)}: {share:.2%}")
            if share > WIDE_ENOUGH:
                middle = left + share / 2
                axes.text(middle, at, f"{share:.0%}", ha="center", va="center", fontsize=9, color=theme.ink)
            left += share
    axes.set_yticks(range(len(models)), [f"{row['name']}\n{words('size', n=_short(row['total']))}" for row in models])
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.grid(visible=False, axis="y")


def _short(count: int) -> str:
    """1,009,057 → "1.0 M"."""
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("count-classifier", "count-lesson", "attention-most", "ffn-two-thirds"),
    equation=r"N_{\text{layer}}=4\,(d_{\text{model}}^2+d_{\text{model}})+2\,d_{\text{model}}d_{\text{ff}}"
    r"+d_{\text{ff}}+d_{\text{model}}+4\,d_{\text{model}}",
    formula="N_layer = 4(d_model² + d_model) + 2·d_model·d_ff + d_ff + d_model + 4·d_model",
    paper="§3.1–3.3, Table 3",
    sources=("ledger/parameters.py", "ledger/rows.py", "models/in_symbols.py"),
)
