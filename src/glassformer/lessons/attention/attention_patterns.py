"""Every head of one layer on a real sentence; and whether rows sum to 1 and heads differ, over many sentences.

Claims softmax-sums and heads-differ; the rules stand in `verdicts`.
"""

from __future__ import annotations

from glassformer.data.grammar.sample import pairs
from glassformer.lessons.attention.attention_patterns_experiment import heads_apart, rows_and_blocks
from glassformer.lessons.attention.attention_patterns_picture import draw
from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, Verdict
from glassformer.lessons.statistics import above, difference
from glassformer.models.build import build
from glassformer.trace.sentence import follow

SENTENCE = "나는 친구와 함께 학교에 갔다."  # I went to school with a friend.
SENTENCES = 32  # for each seed
EPSILON = 2.0**-23  # of float32
MOST = ("attentions", "error", "leak", "longest", "dropped_high")  # of the seeds the largest counts


def run(desk: Desk) -> Data:
    """The picture shows the encoder's last layer; the measurements take every attention of the model."""
    loaded = desk.model("ko-en")
    config = loaded.config.model
    story = follow("ko-en", config, SENTENCE, trained=loaded.reader())
    layer = config.encoder_layers - 1
    apart: dict[str, dict[str, list[float]]] = {}
    rows = []
    for seed in desk.each("sentences", desk.seeds):
        chosen = pairs("test", desk.some(SENTENCES, 4), seed=seed)
        untrained = build(config, seed=seed).eval()
        rows.append(rows_and_blocks(loaded, chosen, seed))
        for name, model in (("trained", loaded.model), ("untrained", untrained)):
            for attention, value in heads_apart(loaded, model, chosen).items():
                apart.setdefault(attention, {}).setdefault(name, []).append(value)
    return {
        "sentence": SENTENCE,
        "tokens": story.tokens,
        "layer": layer + 1,
        "heads": story.trace[f"encoder.blocks.{layer}.self_attention.weights"][0].tolist(),
        "n_heads": config.n_heads,
        "sentences": len(chosen) * len(desk.seeds),
        "sums": {
            **{key: sum(row[key] for row in rows) for key in ("rows", "blocked")},
            **{
                key: max(row[key] for row in rows) for key in ("attentions", "error", "leak", "longest", "dropped_high")
            },
            "dropped_low": min(row["dropped_low"] for row in rows),
        },
        "apart": {
            attention: {
                **{name: sum(values) / len(values) for name, values in found.items()},
                "more": difference(found["trained"], found["untrained"]),
            }
            for attention, found in apart.items()
        },
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """softmax-sums: confirmed if every row sums to 1 and every masked entry is exactly 0; else refuted.

    A sum of n rounded numbers may be off by n roundings, so the tolerance is the longest row × 2⁻²³.
    heads-differ: different is meant as more different than heads whose weights are random. Confirmed if in every
    attention the divergence of the trained heads is above that of untrained ones (95 % interval over the seeds, each
    with its own sentences and its own random model); refuted if in none; else it depends on the attention.
    """
    sums = data["sums"]
    right = sums["error"] <= sums["longest"] * EPSILON and sums["leak"] == 0.0
    more = {attention: above(found["more"]) for attention, found in data["apart"].items()}
    names = {True: [name for name in more if more[name]], False: [name for name in more if not more[name]]}
    effects = {attention: found["more"]["mean"] for attention, found in data["apart"].items()}
    least, most = min(effects, key=lambda name: effects[name]), max(effects, key=lambda name: effects[name])
    measured = {
        "attentions": len(more),
        "holds": len(names[True]),
        "where": ", ".join(names[True]) or "–",
        "where_not": ", ".join(names[False]) or "–",
        "trained": sum(found["trained"] for found in data["apart"].values()) / len(more),
        "untrained": sum(found["untrained"] for found in data["apart"].values()) / len(more),
        "least": {"name": least, **{key: data["apart"][least]["more"][key] for key in ("mean", "low", "high")}},
        "most": {"name": most, **{key: data["apart"][most]["more"][key] for key in ("mean", "low", "high")}},
    }
    return {
        "softmax-sums": Verdict("confirmed" if right else "refuted", dict(sums)),
        "heads-differ": Verdict(
            "confirmed" if all(more.values()) else "depends" if any(more.values()) else "refuted", measured
        ),
    }


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("softmax-sums", "heads-differ"),
    models=("ko-en",),
    equation=r"w=\mathrm{softmax}\!\left(\frac{QK^{\top}}{\sqrt{d_k}}\right),\quad\sum_s w_{ts}=1",
    formula="w = softmax(Q Kᵀ / √d_k),  Σ_s w_ts = 1",
    paper="§3.2.2; Figures 3 to 5",
    sources=("layers/attention/kernel.py", "trace/record.py"),
    picture="attention_patterns",
)
