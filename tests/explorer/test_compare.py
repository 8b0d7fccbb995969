from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from starlette.testclient import TestClient
from torch import Tensor

import glassformer as gf
from explorer_client import INPUTS, ORDERS, client, foreign, tiny_run
from glassformer.explorer.fields import LARGEST
from glassformer.explorer.inputs import read
from glassformer.explorer.shelf import Offered
from glassformer.loading import Loaded

LONG = {"text": "우리는 매일 자주 웃는다"}
POSITIONS = [{"kind": "zero", "name": "*.positions.encoding"}]


class Compared:
    """An answer of /api/compare: what it tells, and its maps."""

    def __init__(self, content: bytes) -> None:
        self.maps: dict[str, Tensor] = safetensors.torch.load(content)
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])["__metadata__"]["comparison"]
        self.told: dict[str, Any] = json.loads(header, parse_constant=pytest.fail)  # NaN is no JSON

    def tap(self, name: str) -> dict[str, Any]:
        return next(one for one in self.told["stream"] if one["tap"] == name)


def compared(asked: TestClient, a: dict[str, Any], b: dict[str, Any]) -> Compared:
    answer = asked.post("/api/compare", json={"a": a, "b": b})
    assert answer.status_code == 200, answer.text
    return Compared(answer.content)


def passed(loaded: Loaded, given: dict[str, Any], edits: Any = None) -> tuple[Any, Tensor]:
    """A pass with the Python interface alone."""
    inputs = read(loaded, given)
    with torch.no_grad(), gf.edit(loaded.model, edits or {}), gf.record(loaded.model) as trace:
        output = inputs.run(loaded.model, inputs.inputs)
    return trace, output


def apart(a: Tensor, b: Tensor) -> float:
    """The relative distance, written a second time."""
    one, other = a.double().flatten(), b.double().flatten()
    return float((one - other).norm() / max(one.norm(), other.norm()))


def same_stream(found: Compared, one: Any, other: Any, rows: Any = None) -> None:
    """Every distance of the answer is that of two traces; `rows`: of the encoder and the decoder, for either side."""
    shown = [each for each in found.told["stream"] if not each["why"]]
    assert shown
    for each in shown:
        a, b = one[each["tap"]][0], other[each["tap"]][0]
        if rows is not None:
            mine, yours = rows[each["tap"].partition(".")[0]]
            a, b = a[mine], b[yours]
        assert each["relative"] == pytest.approx(apart(a, b), rel=1e-6), each["tap"]
        cosine = torch.cosine_similarity(a.double().flatten(), b.double().flatten(), 0)
        assert each["cosine"] == pytest.approx(cosine.item(), abs=1e-6)
        assert each["by_row"] == pytest.approx([apart(x, y) for x, y in zip(a, b, strict=True)], rel=1e-6)


# --- what can be compared ---


@pytest.mark.parametrize("order", ORDERS)
def test_two_checkpoints(order: str) -> None:
    run = tiny_run("classification", order)
    given, name = INPUTS["classification"], "encoder.blocks.0.self_attention"
    a = {"model": run.name, "checkpoint": "4", "input": given, "attention": name, "head": 1}
    found = compared(client(run), a, {"model": run.name, "checkpoint": "8", "input": given})
    one, said = passed(gf.load(run, checkpoint="4"), given)
    other, says = passed(gf.load(run, checkpoint="8"), given)
    weights = [each[f"{name}.weights"][0, 1] for each in (one, other)]
    assert torch.equal(found.maps["a"], weights[0]) and torch.equal(found.maps["b"], weights[1])
    assert torch.equal(found.maps["difference"], weights[1] - weights[0])
    assert (found.told["b"]["attention"], found.told["b"]["head"]) == (name, 1)
    same_stream(found, one, other)
    assert found.told["verdict"]["first"]["tap"] == "embedding.output"
    rows = found.told["answers"]["rows"]
    labels = gf.load(run).labels
    assert [row["a"]["name"] for row in rows] == [row["b"]["name"] for row in rows] == labels
    assert [row["a"]["p"] for row in rows] == pytest.approx(said.softmax(-1)[0].tolist(), rel=1e-5)
    assert [row["b"]["p"] for row in rows] == pytest.approx(says.softmax(-1)[0].tolist(), rel=1e-5)
    moved = (said.softmax(-1) - says.softmax(-1)).abs().sum() / 2
    assert found.told["answers"]["moved"] == pytest.approx(moved.item(), rel=1e-4)


def test_two_texts_of_different_lengths_share_the_tokens_that_both_have() -> None:
    run = tiny_run("classification")
    asked, loaded, given = client(run), gf.load(run), INPUTS["classification"]
    name = "encoder.blocks.0.self_attention"
    found = compared(asked, {"model": run.name, "input": given, "attention": name}, {"model": run.name, "input": LONG})
    (one, _), (other, _) = passed(loaded, given), passed(loaded, LONG)
    rows = found.told["cells"]["rows"]
    assert rows["how"] == "pieces" and rows == found.told["cells"]["columns"]
    mine, yours = ([pair[i] for pair in rows["pairs"]] for i in (0, 1))
    pieces = [[piece.piece for piece in read(loaded, each).source] for each in (given, LONG)]
    assert [pieces[0][i] for i in mine] == [pieces[1][j] for j in yours] and len(mine) > 2
    a, b = one[f"{name}.weights"][0, 0], other[f"{name}.weights"][0, 0]
    assert torch.equal(found.maps["difference"], b[yours][:, yours] - a[mine][:, mine])
    same_stream(found, one, other, {"encoder": (mine, yours)})
    assert found.told["verdict"] is None


def test_two_texts_of_one_length_lie_side_by_side() -> None:
    run = tiny_run("language_model")
    loaded, texts = gf.load(run), ({"text": "the child"}, {"text": "the table"})
    found = compared(client(run), *({"model": run.name, "input": each} for each in texts))
    (one, said), (other, says) = (passed(loaded, each) for each in texts)
    assert found.told["cells"]["rows"]["how"] == "position"
    same_stream(found, one, other)
    first = [each["by_row"][0] for each in found.told["stream"]]
    assert set(first) == {0.0}  # causal: what comes later does not reach back
    allowed = torch.ones(said.shape[1], said.shape[1]).tril().byte()
    assert all(torch.equal(found.maps[f"{key}.mask"], allowed) for key in ("a", "b", "difference"))
    moved = (said[0].softmax(-1) - says[0].softmax(-1)).abs().sum(-1) / 2
    assert moved[0] == 0 < moved[1]
    assert [row["moved"] for row in found.told["answers"]["rows"]] == pytest.approx(moved.tolist(), abs=1e-6)


def test_pre_norm_against_post_norm() -> None:
    pre, post = (tiny_run("translation", order) for order in ORDERS)
    given = INPUTS["translation"] | {"target": "we laugh"}
    found = compared(client(pre, post), *({"model": run.name, "input": given} for run in (pre, post)))
    (one, said), (other, _) = (passed(gf.load(run), given) for run in (pre, post))
    same_stream(found, one, other)
    name = found.told["a"]["attention"]
    assert name == found.told["b"]["attention"] and name.endswith("cross_attention")
    weights = [each[f"{name}.weights"][0, 0] for each in (one, other)]
    assert torch.equal(found.maps["difference"], weights[1] - weights[0])
    best = [row["a"]["p"] for row in found.told["answers"]["rows"]]
    assert best == pytest.approx(said[0].softmax(-1).amax(-1).tolist(), rel=1e-5)
    assert found.told["answers"]["total"] == len(best)


def test_the_same_model_without_its_positions_parts_where_they_are_added() -> None:
    run, given = tiny_run("classification"), INPUTS["classification"]
    asked = client(run)
    found = compared(
        asked, {"model": run.name, "input": given}, {"model": run.name, "input": given, "edits": POSITIONS}
    )
    loaded = gf.load(run)
    one, _ = passed(loaded, given)
    other, _ = passed(loaded, given, {"*.positions.encoding": gf.zero()})
    same_stream(found, one, other)
    names = [name for name in one if not name.endswith((".scores", ".weights"))]
    first = next(name for name in names if not torch.equal(one[name], other[name]))
    verdict = found.told["verdict"]
    assert (verdict["first"]["tap"], verdict["first"]["before"]) == (first, names.index(first))


@pytest.mark.parametrize("kind", INPUTS)
def test_every_task_is_the_same_as_itself_and_differs_without_its_first_layer(kind: str) -> None:
    run = tiny_run(kind)
    asked, a = client(run), {"model": run.name, "input": INPUTS[kind]}
    same = compared(asked, a, a).told
    assert same["verdict"]["identical"] and same["answers"]["changed"] == 0 and same["answers"]["total"] > 0
    assert {one["relative"] for one in same["stream"]} == {0.0}
    assert same["answers"]["moved"] == 0.0
    stack = same["a"]["attentions"][0].partition(".")[0]
    skip = {"kind": "skip", "name": f"{stack}.blocks.0.output"}
    other = compared(asked, a, a | {"edits": [skip]})
    assert other.tap(f"{stack}.blocks.0.output")["relative"] > 0 == other.tap(f"{stack}.input")["relative"]
    assert other.told["answers"]["moved"] > 0


def test_an_imported_bert_against_a_classifier() -> None:
    folder, run = foreign("bert"), tiny_run("classification")
    asked = client(folder, run)
    a, b = {"model": folder.name, "input": {"text": "the cat"}}, {"model": run.name, "input": {"text": "우리는 웃는다"}}
    found = compared(asked, a | {"attention": "encoder.blocks.0.self_attention"}, b)
    one, _ = passed(gf.load(folder), a["input"])
    other, _ = passed(gf.load(run), b["input"])
    assert torch.equal(found.maps["a"], one["encoder.blocks.0.self_attention.weights"][0, 0])
    assert torch.equal(found.maps["b"], other["encoder.blocks.0.self_attention.weights"][0, 0])
    assert found.told["answers"]["rows"] == [] and found.told["answers"]["kind"] == ""  # words here, a class there
    assert {each["why"] for each in found.told["stream"]} <= {"width", "rows", "only_a", "only_b"}


def test_another_number_of_layers_and_heads() -> None:
    """The nearest attention of the other model, and its last head, stand in for what it lacks."""
    asked = client(packaged=True)
    a = {
        "model": "ko-en",
        "input": {"text": "나는 학교에 간다"},
        "attention": "encoder.blocks.2.self_attention",
        "head": 3,
    }
    found = compared(asked, a, {"model": "sentiment-ko", "input": {"text": "나는 학교에 간다"}}).told
    few = gf.load("sentiment-ko").config.model
    assert found["b"]["attention"] == f"encoder.blocks.{few.encoder_layers - 1}.self_attention"
    assert found["b"]["head"] == min(3, few.n_heads - 1)
    whys = {each["tap"]: each["why"] for each in found["stream"]}
    assert whys["encoder.blocks.2.output"] == "only_a" == whys["decoder.input"] and whys["encoder.output"] == ""
    taps = [each["tap"] for each in found["stream"]]
    assert taps.index("encoder.blocks.2.output") < taps.index("encoder.output")


def test_patches_of_different_grids_have_no_difference() -> None:
    found = compared(client(packaged=True), {"model": "digits"}, {"model": "clothes"})
    assert "difference" not in found.maps and found.told["cells"]["rows"] == {"how": "none", "pairs": []}
    assert "rows" in {each["why"] for each in found.told["stream"]} | {"rows"}
    assert all(each["why"] for each in found.told["stream"])


def test_words_that_a_model_has_never_read_are_named() -> None:
    given = {"text": "나는 학교에 간다"}
    found = compared(client(packaged=True), {"model": "ko-en", "input": given}, {"model": "en-ko", "input": given}).told
    assert (found["a"]["unseen"], found["b"]["unseen"]) == ([], gf.load("en-ko").unseen([given["text"]])[0])


def test_masked_words_without_a_gap_repeat_the_text_and_with_one_fill_it() -> None:
    run, plain = tiny_run("masked_language_model"), {"text": "우리는 자주 웃는다"}
    gapped = INPUTS["masked_language_model"]
    found = compared(client(run), {"model": run.name, "input": plain}, {"model": run.name, "input": gapped}).told
    loaded = gf.load(run)
    (_, said), (_, says) = (passed(loaded, given) for given in (plain, gapped))
    assert found["a"]["answer"]["text"] == loaded.tokenizer.decode(said[0].argmax(-1).tolist())
    (gap,) = read(loaded, gapped).masked
    assert found["b"]["answer"]["text"] == loaded.tokenizer.piece(int(says[0, gap].argmax()))
    assert [row["b"] is not None for row in found["answers"]["rows"]].count(True) == 1


def test_what_is_not_finite_stays_json() -> None:
    run = tiny_run("translation")
    a = {"model": run.name, "input": INPUTS["translation"]}
    most = {"kind": "scale", "factor": LARGEST}  # each of the two may be asked for; one after the other they overflow
    huge = [most | {"name": f"encoder.blocks.0.feed_forward.{tap}"} for tap in ("hidden", "output")]
    found = compared(client(run), a, a | {"edits": huge})
    assert found.tap("decoder.blocks.0.output")["relative"] is None
    assert None in [row["b"]["p"] for row in found.told["answers"]["rows"]]


# --- one lock at a time ---


def test_no_request_ever_holds_two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    held, most = set(), []
    real = Offered.use

    @contextmanager
    def watched(self: Offered, checkpoint: str, *, begun: bool = False) -> Iterator[Loaded]:
        with real(self, checkpoint, begun=begun) as loaded:
            held.add(self.name)
            most.append(len(held))
            yield loaded
            held.discard(self.name)

    monkeypatch.setattr(Offered, "use", watched)
    runs = tiny_run("classification"), tiny_run("translation")
    asked, given = client(*runs), INPUTS["classification"]
    for one, other in (runs, runs[::-1], (runs[0], runs[0])):
        compared(asked, {"model": one.name, "input": given}, {"model": other.name, "input": given})
    assert most == [1] * 6


def test_two_clients_that_name_two_models_in_either_order_do_not_wait_for_each_other() -> None:
    runs = tiny_run("classification"), tiny_run("translation")
    asked, given = client(*runs), INPUTS["classification"]
    questions = [{"model": run.name, "input": given} for run in runs]
    statuses: list[int] = []

    def ask(a: dict[str, Any], b: dict[str, Any]) -> None:
        for _ in range(10):
            statuses.append(asked.post("/api/compare", json={"a": a, "b": b}).status_code)

    orders = (questions, questions[::-1], [questions[0]] * 2)
    threads = [threading.Thread(target=ask, args=tuple(order), daemon=True) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not [thread for thread in threads if thread.is_alive()] and statuses == [200] * 30


# --- what is refused ---


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ({}, None, "b"),
        ({}, 3, "b"),
        ({}, {"model": 3}, "model"),
        ({}, {"modle": "x"}, "modle"),
        ({}, {"checkpoint": "5"}, "checkpoint"),
        ({}, {"head": 99}, "99"),
        ({}, {"head": -1}, "head"),
        ({}, {"attention": "encoder.blocks.9.self_attention"}, "encoder.blocks.9.self_attention"),
        ({"attention": 3}, {}, "attention"),
        ({}, {"input": {"text": " "}}, "empty"),
        ({}, {"input": {"pixels": []}}, "pixels"),
        ({}, {"edits": [{"kind": "zero", "name": "nothing"}]}, "nothing"),
    ],
)
def test_a_question_without_sense_is_one_line(a: dict[str, Any], b: Any, told: str) -> None:
    run = tiny_run("classification")
    usual = {"model": run.name, "input": INPUTS["classification"]}
    body = {"a": usual | a} | ({} if b is None else {"b": usual | b if isinstance(b, dict) else b})
    answer = client(run).post("/api/compare?lang=en", json=body)
    assert answer.status_code == 422 and told in answer.json()["error"] and "\n" not in answer.json()["error"]


def test_a_model_that_is_not_there() -> None:
    run = tiny_run("classification")
    usual = {"model": run.name, "input": INPUTS["classification"]}
    answer = client(run).post("/api/compare", json={"a": usual, "b": usual | {"model": str(Path.home())}})
    assert (answer.status_code, answer.json()["kind"]) == (404, "no_model")
