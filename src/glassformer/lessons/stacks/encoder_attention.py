"""All layers and heads of an encoder on one sentence; and whether what they do becomes more abstract with depth.

Claim abstraction; the rule stands in `verdicts`, the experiment in encoder_attention_experiment.py.
"""

from __future__ import annotations

from typing import Any

import torch

from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson
from glassformer.lessons.stacks.encoder_attention_experiment import MEASURES, depth
from glassformer.lessons.stacks.encoder_attention_picture import draw
from glassformer.lessons.stacks.sentences import SENTENCE, held_out, plain
from glassformer.lessons.verdict import Verdict, Word, greater, judged, less
from glassformer.loading import Loaded
from glassformer.models.encoder_decoder import EncoderDecoder
from glassformer.trace.record import record

NEIGHBOURS = 40  # the longest of so many sentences stands beside ours in the batch


def run(desk: Desk) -> Data:
    """The trained translator ko-en on one sentence, then deeper encoders of several seeds on many."""
    return {"sentence": SENTENCE, **_maps(desk.model("ko-en")), **depth(desk)}


def _maps(loaded: Loaded) -> dict[str, Any]:
    """The sentence beside a longer one: what is filled up must not be looked at."""
    reader, model = loaded.reader(), loaded.model
    assert isinstance(model, EncoderDecoder)
    short = reader.source(SENTENCE)
    long = max((reader.source(pair.source_ko) for pair in held_out(NEIGHBOURS)), key=lambda one: one.ids.shape[1])
    pad, wide = loaded.tokenizer.specials.need("pad"), max(short.ids.shape[1], long.ids.shape[1])
    rows = [[*one.ids[0].tolist(), *[pad] * (wide - one.ids.shape[1])] for one in (short, long)]
    ids = torch.tensor(rows)  # 2 t
    mask = torch.tensor([[i < one.ids.shape[1] for i in range(wide)] for one in (short, long)])  # 2 t
    with torch.no_grad(), record(model, "encoder.*.weights") as trace:
        model.encode(ids, mask)
    real = short.ids.shape[1]
    layers = [one[0, :, :real].tolist() for one in trace.attention()]  # each h t s
    blocked = [value for layer in layers for head in layer for row in head for value in row[real:]]
    return {
        "tokens": [*map(plain, short.tokens)],
        "columns": [*map(plain, short.tokens), *[plain(loaded.tokenizer.piece(pad))] * (wide - real)],
        "maps": [[[[*row[:real], *[None] * (wide - real)] for row in head] for head in layer] for layer in layers],
        "padding": wide - real,
        "to_padding": max(blocked, default=0.0),
        "n_layers": len(layers),
        "n_heads": len(layers[0]),
    }


def verdicts(data: Data) -> dict[str, Verdict]:
    """ "More abstract" has two readings, each fixed here before the first result; each seed gives a slope over depth.

    Attention: a deeper layer looks wider, at more tokens and farther away: entropy and distance rise.
    Content: a deeper layer's vectors tell more of the sentence and less of their own token: the structure probe rises
    and the surface probe falls.
    The claim speaks of trained models, so the rule looks at them; the same models before training stand beside it as a
    control, which was added after the first result and decides nothing.
    """
    slopes = data["slopes"]
    sides: dict[str, Word | dict[str, Word]] = {
        "attention": {"entropy": greater(slopes["entropy"]), "distance": greater(slopes["distance"])},
        "content": {"structure": greater(slopes["structure"]), "surface": less(slopes["surface"])},
    }
    ends = {name: data["curves"][name][-data["depth"] :] for name in MEASURES}
    measured = {
        **{name: slopes[name] for name in MEASURES},
        "first": {name: ends[name][0]["mean"] for name in MEASURES},
        "last": {name: ends[name][-1]["mean"] for name in MEASURES},
        "untrained": {name: data["untrained"]["slopes"][name] for name in MEASURES},
        "added": {name: data["added"][name] for name in MEASURES},
        "layers": data["depth"],
        "seeds": slopes["entropy"]["n"],
    }
    return {"abstraction": judged(sides, measured)}


LESSON = Lesson(
    run=run,
    verdicts=verdicts,
    draw=draw,
    claims=("abstraction",),
    models=("ko-en",),
    equation=r"Z_1=\mathrm{LayerNorm}(X+\mathrm{MultiHead}(X)),\qquad Z_2=\mathrm{LayerNorm}(Z_1+\mathrm{FFN}(Z_1))",
    formula="Z1 = LayerNorm(X + MultiHead(X)),  Z2 = LayerNorm(Z1 + FFN(Z1))",
    paper="§3.1, §3.2.3",
    sources=("models/encoder.py", "models/block.py", "layers/attention/multi_head.py"),
    picture="encoder_attention_patterns",
)
