"""A translation as it is written, token by token: where the decoder looked, what else came up, the beam's tree."""

from __future__ import annotations

from typing import Any

import torch

from glassformer.decoding.beam import beam_search
from glassformer.decoding.tree import ROOT, Tree
from glassformer.evaluation.produced import forbidden_ids
from glassformer.lessons.desk import Desk
from glassformer.lessons.lesson import Data, Lesson, no_verdicts
from glassformer.lessons.stacks.generation_picture import draw
from glassformer.lessons.stacks.sentences import plain
from glassformer.loading import Loaded
from glassformer.text import Tokenizer
from glassformer.trace.record import record

SENTENCE = "우리 고양이는 학교에서 Transformer를 가르친다"  # to whom? in the corpus one always teaches somebody
BEAM = 3
CANDIDATES = 3
LONGEST = 24  # tokens; a model that was hardly trained does not know when to stop


def run(desk: Desk) -> Data:
    """Beam search of the trained translator, recorded; then its best sentence once more, with a look inside."""
    loaded = desk.model("ko-en")
    target, special = loaded.vocabularies.target, loaded.vocabularies.target.specials
    read = loaded.reader().source(SENTENCE)
    best, trees = beam_search(
        loaded.model,
        read.ids,
        eos=special.need("eos"),
        bos=loaded.start,
        forbidden=forbidden_ids(special),
        beam=BEAM,
        n_best=BEAM,
        max_len=LONGEST,
        record=True,
    )
    written = best[0][0]
    return {
        "sentence": SENTENCE,
        "source": [*map(plain, read.tokens)],
        "translation": target.decode(written.tokens),
        "translations": [{"text": target.decode(one.tokens), "score": one.score} for one in best[0]],
        "beam": BEAM,
        **_look(loaded, read.ids, [*written.tokens, special.need("eos")] if written.finished else written.tokens),
        "tree": _tree(trees[0], target),
    }


def _look(loaded: Loaded, ids: torch.Tensor, tokens: list[int]) -> dict[str, Any]:
    """At each step: the weights over the source when the token was chosen, and the likeliest candidates."""
    given = torch.tensor([[loaded.start, *tokens[:-1]]])  # 1 t
    with torch.no_grad(), record(loaded.model, "decoder.*.cross_attention.weights") as trace:
        logits = loaded.model(ids, given)[0]  # t v
    weights = torch.stack([one[0].mean(0) for one in trace.attention("cross_attention")]).mean(0)  # t s
    piece = loaded.vocabularies.target.piece
    steps: list[dict[str, Any]] = []
    for row, token in zip(logits.softmax(-1), tokens, strict=True):
        likeliest = row.topk(CANDIDATES)
        steps.append(
            {
                "token": plain(piece(token)),
                "probability": float(row[token]),
                "entropy": float(-torch.xlogy(row, row).sum() / torch.log(torch.tensor(2.0))),
                "candidates": [
                    {"token": plain(piece(int(i))), "probability": float(p)}
                    for p, i in zip(likeliest.values, likeliest.indices, strict=True)
                ],
            }
        )
    return {
        "steps": steps,
        "weights": weights.tolist(),
        "unsure": min(steps, key=lambda step: float(step["probability"])),
        "written": len(steps),
    }


def _tree(tree: Tree, target: Tokenizer) -> dict[str, Any]:
    """The nodes that went on, ended, or were among the best of their step, with the way to the result marked."""
    way = set()
    node = tree.results[0]
    while node != ROOT:
        way.add(node)
        node = tree.nodes[node].parent
    nodes = [
        {
            "token": plain(target.piece(node.token)),
            "parent": node.parent,
            "probability": float(torch.tensor(node.log_probability).exp()),
            "cumulative": node.cumulative,
            "step": node.step,
            "fate": node.fate,
            "way": number in way,
        }
        for number, node in enumerate(tree.nodes)
    ]
    counts = {fate: sum(node["fate"] == fate for node in nodes) for fate in ("kept", "finished", "pruned")}
    return {"nodes": nodes, "count": len(nodes), **counts}


LESSON = Lesson(
    run=run,
    verdicts=no_verdicts,
    draw=draw,
    models=("ko-en",),
    equation=r"p(y\mid x)=\prod_{t} p(y_t\mid y_{<t},x)",
    formula="p(y | x) = Π_t p(y_t | y_<t, x)",
    paper="§3.1, §6.1",
    sources=("decoding/beam.py", "decoding/tree.py", "models/encoder_decoder.py"),
    picture="generation_attention",
)
