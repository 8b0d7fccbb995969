"""One translation on one page: encoder, decoder and cross-attention; and whether the latter finds the right words.

Claim cross-alignment; the rule stands in `verdicts`, the experiment in transformer_attention_experiment.py.
"""

from __future__ import annotations

from typing import Any

from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.stacks.sentences import HELD_OUT, follow, held_out
from glassformer.lessons.stacks.transformer_attention_experiment import (
    BASELINES,
    READINGS,
    Aligner,
    chosen_map,
    measure_seeds,
)
from glassformer.lessons.stacks.transformer_attention_picture import draw
from glassformer.lessons.verdict import Verdict, Word, judged, less
from glassformer.loading import Loaded

CHOOSING, JUDGED = 100, 200  # validation sentences to choose head and layer by, and others to judge on
PLAIN = 0.5  # an error rate below it: more than half of the links are right


def run(desk: Desk) -> Data:
    """Alignments of several small translators and of the trained one; then one sentence of it in full."""
    choosing, judged = desk.some(CHOOSING, 10), desk.some(JUDGED, 10)
    pairs = held_out(choosing + judged)
    seeds = measure_seeds(desk, pairs[:choosing], pairs[choosing:])
    loaded = desk.model("ko-en")
    trained = Aligner(loaded.model, loaded.config, loaded.vocabularies).judge(pairs[:choosing], pairs[choosing:])
    return {**seeds, "trained": trained, "sentences": len(pairs) - choosing, "page": _page(loaded, trained)}


def _page(loaded: Loaded, trained: Data) -> dict[str, Any]:
    """A validation sentence with its reference, so that the grammar's own alignment can be laid over the weights."""
    pair = next(pair for pair in held_out(40) if pair.source_ko == HELD_OUT)
    followed = follow(loaded, pair.source_ko, pair.target_en)
    own, across = followed.trace.attention(), followed.trace.attention("cross_attention")
    encoder, decoder = own[: len(own) - len(across)], own[len(own) - len(across) :]
    last = decoder[-1][0].mean(0).tolist()
    return {
        "source_text": pair.source_ko,
        "target_text": pair.target_en,
        "source": followed.source,
        "target": followed.target,
        "encoder": encoder[-1][0].mean(0).tolist(),
        "decoder": [[value if j <= i else None for j, value in enumerate(row)] for i, row in enumerate(last)],
        "cross": across[-1][0].mean(0).tolist(),
        "words": chosen_map(loaded, pair, trained["choice"]),
        "source_words": pair.source_ko.split(" "),
        "target_words": pair.target_en.split(" "),
        "links": [list(link) for link in pair.alignment],
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """Two readings, both fixed before the first result: the one best map, and the mean of all of them.

    Best: the layer, the head (or the mean of its heads) and the row (that which says a word, or that which reads it)
    with the fewest errors on other sentences than those that are judged. A reading aligns if, over the seeds, its error
    rate is below that of each baseline (diagonal, chance, the same model untrained with the same freedom to choose) and
    below 0.5: in plain words, most links are right. The sides are the readings.
    """
    sides: dict[str, Word | dict[str, Word]] = {
        reading: {
            **{name: less(data["against"][reading][name]) for name in BASELINES},
            "plain": less(data["rates"][reading], PLAIN),
        }
        for reading in READINGS
    }
    measured = {name: data["rates"][name] for name in (*READINGS, *BASELINES)}
    measured |= {"least": data["least"], "seeds": data["rates"]["best"]["n"], "trained": data["trained"]["best"]}
    return {"cross-alignment": judged(sides, measured)}


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("cross-alignment",),
    models=("ko-en",),
    equation=r"\mathrm{AER}=1-\frac{2\,|A\cap G|}{|A|+|G|}",
    formula="AER = 1 − 2 |A ∩ G| / (|A| + |G|)",
    paper="§3.2.3",
    sources=("layers/attention/multi_head.py", "data/grammar/pair.py"),
    picture="transformer_attention_all",
)
