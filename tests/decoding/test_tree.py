from __future__ import annotations

import json

import pytest
import torch

from decoding import ENDS, EOS, FAMILIES, lively, sources
from glassformer.decoding import Beams, Limits, Tree, beam_search, beam_trees
from glassformer.decoding.tree import ROOT, Candidates, Growth, Node

MOST, BEAM = 7, 3


def grown(family: str) -> tuple[list[list[list[int]]], list[Tree]]:
    found, trees = beam_trees(
        lively(family), *sources(), limits=Limits(max_len=MOST, **ENDS), beams=Beams(width=BEAM), n_best=BEAM
    )
    ends = [[[*one.tokens, EOS] if one.finished else one.tokens for one in best] for best in found]
    return ends, trees


@pytest.mark.parametrize("family", FAMILIES)
def test_recording_changes_nothing(family: str) -> None:
    plain = beam_search(
        lively(family), *sources(), limits=Limits(max_len=MOST, **ENDS), beams=Beams(width=BEAM), n_best=BEAM
    )
    found, trees = beam_trees(
        lively(family), *sources(), limits=Limits(max_len=MOST, **ENDS), beams=Beams(width=BEAM), n_best=BEAM
    )
    assert found == plain
    assert len(trees) == len(found)


def test_the_tree_of_a_sentence_does_not_depend_on_the_batch() -> None:
    """Without a tree, a finished sentence may stay until others leave too."""
    model, (source, mask) = lively("encoder-decoder"), (torch.cat([each] * 3) for each in sources())
    limits, beams = Limits(max_len=14, **ENDS), Beams(width=BEAM)
    _, together = beam_trees(model, source, mask, limits=limits, beams=beams)
    for row, tree in enumerate(together):
        _, (alone,) = beam_trees(model, source[[row]], mask[[row]], limits=limits, beams=beams)
        assert [(node.token, node.step, node.fate) for node in tree.nodes] == [
            (node.token, node.step, node.fate) for node in alone.nodes
        ]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_results_are_paths_of_the_tree(family: str) -> None:
    for written, tree in zip(*grown(family), strict=True):
        assert [tree.path(node) for node in tree.results] == written
        assert all(tree.nodes[node].fate == "finished" for node in tree.results)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_node_continues_a_node_that_was_kept(family: str) -> None:
    for tree in grown(family)[1]:
        for node in tree.nodes:
            if node.parent == ROOT:
                assert node.step == 1
                assert node.cumulative == node.log_probability
                continue
            parent = tree.nodes[node.parent]
            assert (parent.fate, parent.step) == ("kept", node.step - 1)
            assert node.cumulative == pytest.approx(parent.cumulative + node.log_probability, abs=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_became_of_the_candidates_of_a_step(family: str) -> None:
    for tree in grown(family)[1]:
        for step in range(1, MOST + 1):
            nodes = [node for node in tree.nodes if node.step == step]
            kept = [node for node in nodes if node.fate == "kept"]
            assert len(kept) <= BEAM and not any(node.token == EOS for node in kept)
            finished = [node for node in nodes if node.fate == "finished"]
            assert all(node.token == EOS for node in finished) or step == MOST
            pruned = [node.cumulative for node in nodes if node.fate == "pruned" and node.token != EOS]
            assert not kept or all(sum_ <= min(node.cumulative for node in kept) for sum_ in pruned)


def test_a_tree_can_be_written_as_json() -> None:
    tree = grown("decoder")[1][0]
    assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree


def test_a_tree_by_hand() -> None:
    growth = Growth()
    first = torch.tensor([[-1.0, float("-inf")]])
    assert growth.add(Candidates(torch.tensor([[5, 6]]), torch.tensor([[ROOT, ROOT]]), first, first)).tolist() == [
        [0, 1]
    ]
    growth.mark(torch.tensor([0]), torch.tensor([[1, 0]]))
    second = torch.tensor([[-0.5, -0.25]])
    numbers = growth.add(Candidates(torch.tensor([[2, 7]]), torch.tensor([[0, 0]]), second, second - 1.0))
    assert numbers.tolist() == [[2, 3]]
    growth.mark(torch.tensor([0]), torch.tensor([[2, 0]]))
    (tree,) = growth.trees([[2]])
    assert tree == Tree(
        (
            Node(5, ROOT, -1.0, -1.0, 1, "kept"),  # what is impossible has no node
            Node(2, 0, -0.5, -1.5, 2, "finished"),
            Node(7, 0, -0.25, -1.25, 2, "pruned"),
        ),
        (1,),
    )
    assert tree.path(1) == [5, 2]
