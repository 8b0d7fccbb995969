from __future__ import annotations

import re

import pytest

import glassformer as gf
from glassformer.ledger.show_plan import duration

HANGUL = re.compile(r"[가-힣]")


@pytest.mark.parametrize(
    ("seconds", "english", "korean"),
    [
        (0.0042, "4.2 ms", "4.2밀리초"),
        (1.5, "1.5 s", "1.5초"),
        (90, "1.5 min", "1.5분"),
        (5400, "1.5 h", "1.5시간"),
        (864_000, "10.0 days", "10.0일"),
    ],
)
def test_durations(seconds: float, english: str, korean: str) -> None:
    assert (duration(seconds, "en"), duration(seconds, "ko")) == (english, korean)


def test_a_plan_shows_answer_origin_and_assumptions(monkeypatch: pytest.MonkeyPatch) -> None:
    job = gf.Job(devices=8, parallel="ddp", batch=12, length=1024, accumulate=5)
    plan = gf.plan("gpt2", tokens="300B", device="a100-40", job=job, price=2, utilisation=0.4)
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    english = repr(plan)
    for text in (
        "124,439,808 parameters, 300B tokens, 8 × a100-40, ddp, bfloat16 (mixed)",
        "It fits: 5.70 GiB of 37.25 GiB on each device.",
        "3.0 days",
        "parameters×2×4",
        "854,438,400",
        "all products run at 0.4 of the peak",
        "NVIDIA A100 40GB SXM data sheet",
        "DDP keeps a second copy",
        "this model wants 2.49B tokens",
        "10,000",
    ):
        assert text in english, text
    assert not HANGUL.search(english)
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    korean = repr(plan)
    assert "들어갑니다: 장치마다 37.25 GiB 가운데 5.70 GiB를 씁니다." in korean
    for text in ("가정한 것:", "알 수 없는 것:", "옵티마이저 상태"):
        assert text in korean, text
    for word in ("tokens", "weights", "assumed", "compute", "memory", "bandwidth"):
        assert word not in korean.lower(), word


@pytest.mark.many
@pytest.mark.parametrize(
    ("model", "keys", "job", "text"),
    [
        ("llama3-8b", {"mfu": 0.33}, gf.Job(devices=8, checkpointing="full"), "waiting included (--mfu)"),
        ("llama3-8b", {}, gf.Job(devices=8, accumulate=2, no_sync=True), "until the last micro-batch (--no-sync)"),
        ("llama3-405b", {}, gf.Job(devices=8), "It would fit with: "),
        ("llama3-405b", {}, gf.Job(devices=8, length=131072), "split the layers themselves"),
        ("paper-base", {}, gf.Job(), "source and target together"),
        ("gpt2", {}, gf.Job(causal="triangle"), "(attention: triangle)"),
        ("gpt2", {}, gf.Job(), "one device has nothing to send"),
    ],
)
def test_what_is_special_is_said(
    model: str, keys: dict[str, float], job: gf.Job, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = gf.plan(model, tokens="1B", device="h100", job=job, **keys)
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    assert text in " ".join(repr(plan).split())
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert HANGUL.search(repr(plan))


def test_the_scales_state_their_bandwidths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of one device: the table beside it speaks of a cluster."""
    monkeypatch.setenv("COLUMNS", "200")
    plan = gf.plan("llama2-7b", tokens="1T", device="h100", job=gf.Job(length=4096))
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    lines = repr(plan).splitlines()
    (title,) = (at for at, line in enumerate(lines) if "450 GB/s to the others inside a node of 8, 50 GB/s for" in line)
    rows = [line.split() for line in lines[title + 4 : title + 11]]
    assert [(row[1], row[3]) for row in rows] == [
        ("1", "–"),
        *((n, way) for n in ("8", "64", "1,024") for way in ("ddp", "fsdp")),
    ]
    assert [row[5] for row in rows[:3]] == ["no", "no", "yes"]
    assert {row[-2] for row in rows} == {"compute", "network"}
    said = " ".join(" ".join(lines).split())
    assert "450 GB/s in one direction from each device to the others of its node, 50 GB/s (400 Gb/s of network)" in said
    assert "collectives reach 0.8 of a link" in said
    monkeypatch.setenv("GLASSFORMER_LANG", "ko")
    assert "노드 사이에서는 장치마다 50 GB/s(네트워크 400 Gb/s)" in repr(plan)


def test_a_system_without_source_is_called_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSFORMER_LANG", "en")
    assert "no source, change it to yours" in " ".join(repr(gf.plan("gpt2", tokens="1B", device="l4")).split())
