"""The explorer's server asked what openapi.json allows, and what it does not: each answer is one of the document.

schemathesis makes the requests from the document, in two readings: as it stands, and one for each model with the names
and inputs that there are, which reach the computations. `make test` asks a few of each route, `make fuzz` as many as a
hundredth of GLASSFORMER_FUZZ.
"""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from functools import cache
from typing import Any

import jsonschema
import pytest
import safetensors.torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy, one_of
from starlette.testclient import TestClient

from explorer_client import INPUTS, client, foreign, tiny_run
from glassformer.explorer.app import STATIC
from glassformer.explorer.guard import HEADERS
from glassformer.lessons.catalogue import LESSONS
from glassformer.trace.catalogue import taps

requests = pytest.importorskip("requests")
schemathesis = pytest.importorskip("schemathesis")

FEW, MANY = 15, int(os.environ.get("GLASSFORMER_FUZZ", "100000")) // 100
DOCUMENT: dict[str, Any] = json.loads((STATIC.parent / "openapi.json").read_text(encoding="utf-8"))
TEXTS = ["나는 학교에 간다", "the cat", "___ 웃는다", "", " ", "가" * 2000, "🐈 <b>", "e\u0301"]
PICTURES_AND_SERIES: dict[str, list[Any]] = {
    "pixels": [[[0.5] * 8] * 8, [[[1.0] * 3] * 5], [[[0.0] * 9] * 9] * 3, [[0.1] * 513], []],
    "values": [[100.0 + i for i in range(200)], [0.0] * 200, [1e300] * 200, [1.0]],
}
SMALL = {"type": "integer", "minimum": 0, "maximum": 5}
KEYS = {  # of an input, by what a model does
    "translation": ("text", "target"),
    "classification": ("text", "second"),
    "masked_language_model": ("text", "masked"),
    "language_model": ("text",),
    "image_classification": ("pixels", "example"),
    "object_queries": ("pixels", "example"),
    "prompted_objects": ("pixels", "example", "prompt"),
    "forecasting": ("values", "series", "example"),
}
SENT = ("method", "url", "headers", "params", "json", "data")  # of what schemathesis would send


@cache
def asked() -> TestClient:
    return client(*map(tiny_run, KEYS), tiny_run("translation", "post"), foreign("gpt2"))


def operations() -> list[tuple[str, str, bool]]:
    """Path, method, and whether there is anything that a request could get wrong: any text may stand in an address."""
    return [
        (path, method.upper(), "requestBody" in each or any(one["in"] == "query" for one in each.get("parameters", ())))
        for path, methods in DOCUMENT["paths"].items()
        for method, each in methods.items()
    ]


CASES = [
    (path, method, reading, mode)
    for path, method, fallible in operations()
    for reading in ("as it stands", "with names")
    for mode in ("positive", "negative")
    if mode == "positive" or fallible
]


# --- the document with what there is ---


def with_names(name: str) -> dict[str, Any]:
    """The document as one who knows this model reads it: its tensors, inputs that fit, places that exist."""
    offered = asked().app.state.shelf.find(name)  # type: ignore[attr-defined]
    with offered.use() as loaded:
        document, names = copy.deepcopy(DOCUMENT), [*taps(loaded.model)]
        modules = [path for path, _ in loaded.model.named_modules() if path.endswith("norm")]
        kind = loaded.task
    schemas, paths = document["components"]["schemas"], document["paths"]
    schemas["Model"] = {"enum": [name]}
    schemas["Checkpoint"] = {"enum": [None, *offered.checkpoints()]}
    edit, given = schemas["Edit"]["properties"], schemas["Input"]["properties"]
    edit["name"] = {"enum": [*names, "*.heads", "*.blocks.*.output"]}
    edit |= dict.fromkeys(("head", "row", "column"), SMALL)
    given |= {"text": {"enum": TEXTS}, "example": SMALL, "masked": {"type": "array", "items": SMALL, "maxItems": 3}}
    given["prompt"] = {"enum": [{"word": "three"}, {"word": ""}, {"point": [3, 4]}, {"point": [1e300, -1]}, {}]}
    for key, value in PICTURES_AND_SERIES.items():
        given[key] = {"anyOf": [{"enum": value}, given[key]]}
    fitting = {key: given[key] for key in KEYS[kind]}
    needed = [key for key in fitting if key == "text"]
    own = {"type": "object", "properties": fitting, "required": needed, "additionalProperties": False}
    schemas["Input"] = {"anyOf": [{"enum": [INPUTS[kind]]}, own]}
    for each in (each for methods in paths.values() for each in methods.values()):
        for parameter in each.get("parameters", ()):
            if parameter["name"] == "lang":
                parameter["schema"] = {"enum": ["ko", "en"]}
    paths["/api/lesson/{name}"]["get"]["parameters"][0]["schema"] = {"enum": [*LESSONS]}
    paths["/api/norm"]["get"]["parameters"][2]["schema"] = {"enum": modules}
    for path, key in (
        ("/api/why", "index"),
        ("/api/decode", "prefix"),
        ("/api/trace", "rows"),
        ("/api/trace", "layers"),
    ):
        _body(paths[path])[key] = {"type": "array", "items": SMALL, "maxItems": 3}
    _body(paths["/api/why"])["name"] = {"enum": names}
    _body(paths["/api/trace"])["wanted"]["items"] = {"enum": [*names, "*.scores", "*.output#*", "head.*"]}
    _body(paths["/api/decode"]).update(n={**SMALL, "minimum": 1}, width={**SMALL, "minimum": 1})
    return document


def _body(path: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = path["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    return found


@cache
def schemas(reading: str) -> list[Any]:
    if reading == "as it stands":
        return [schemathesis.openapi.from_dict(DOCUMENT)]
    offered = asked().app.state.shelf.offered  # type: ignore[attr-defined]
    return [schemathesis.openapi.from_dict(with_names(name)) for name in offered]


# --- asking ---


def cases(path: str, method: str, reading: str, mode: str) -> SearchStrategy[Any]:
    mode_of = schemathesis.GenerationMode(mode)
    return one_of(*(schema[path][method].as_strategy(generation_mode=mode_of) for schema in schemas(reading)))


def ask(path: str, method: str, reading: str, mode: str, count: int) -> Counter[int]:
    """So many requests to one route: how many were answered with each status."""
    went = Counter[int]()

    @given(case=cases(path, method, reading, mode))
    @settings(
        max_examples=count,
        deadline=None,
        derandomize=count == FEW,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[*HealthCheck],
    )
    def each(case: Any) -> None:
        if mode == "positive":
            case.body = whole(case.body)
        sent = case.as_transport_kwargs(base_url="http://127.0.0.1")
        made = requests.Request(**{key: sent[key] for key in SENT if key in sent}).prepare()
        answer = asked().request(method, made.url, content=made.body, headers=dict(made.headers))
        operation = DOCUMENT["paths"][path][method.lower()]
        check(operation, answer)
        if method == "POST" and answer.status_code == 200:
            media = operation["requestBody"]["content"]["application/json"]
            fits(without_nulls(json.loads(made.body)), media["schema"])
        went[answer.status_code] += 1

    each()
    return went


def whole(value: Any) -> Any:
    """1.0 is an integer to a schema; the server wants it written as one."""
    match value:
        case dict():
            return {key: whole(each) for key, each in value.items()}
        case list():
            return [whole(each) for each in value]
        case float() if value.is_integer():
            return int(value)
    return value


def without_nulls(value: Any) -> Any:
    """What counts: a field that is null is as good as left out."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [*map(without_nulls, value)] if isinstance(value, list) else value


def check(operation: dict[str, Any], answer: Any) -> None:
    """No fault of ours, nothing undocumented, the policy everywhere, and one line for a person where it is refused."""
    assert answer.status_code < 500 or answer.status_code == 503, answer.text
    assert HEADERS.items() <= dict(answer.headers).items()
    assert str(answer.status_code) in operation["responses"], answer.text
    if answer.status_code != 200:
        fits(answer.json(), DOCUMENT["components"]["schemas"]["Error"])
        assert answer.json()["error"] and not {*"\n\r"} & {*answer.json()["error"]}
        return
    kind = answer.headers["content-type"].partition(";")[0]
    schema = operation["responses"]["200"]["content"][kind]["schema"]
    match kind:
        case "application/json":
            fits(answer.json(), schema)
        case "application/octet-stream":
            told = metadata(answer.content)
            assert len(told) == 1 and {*told} <= {"trace", "comparison"}
            if "trace" in told:
                fits(told["trace"], DOCUMENT["components"]["schemas"]["About"])
        case "application/x-ndjson":
            assert all(isinstance(json.loads(line), dict) for line in answer.text.splitlines())


def metadata(content: bytes) -> dict[str, Any]:
    """What a safetensors file says of itself; NaN is no JSON."""
    safetensors.torch.load(content)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return {key: json.loads(text, parse_constant=pytest.fail) for key, text in header["__metadata__"].items()}


def fits(found: Any, schema: dict[str, Any]) -> None:
    jsonschema.validate(found, {"components": DOCUMENT["components"], **schema})


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method", "reading", "mode"), CASES)
def test_every_answer_is_one_of_the_document(path: str, method: str, reading: str, mode: str) -> None:
    ask(path, method, reading, mode, FEW)


@pytest.mark.fuzz
@pytest.mark.parametrize(("path", "method", "reading", "mode"), CASES)
def test_every_answer_is_one_of_the_document_by_the_number(path: str, method: str, reading: str, mode: str) -> None:
    went = ask(path, method, reading, mode, MANY)
    if (reading, mode) == ("with names", "positive") and "{lang}" not in path:
        assert went[200] >= went.total() // 20  # not all of it nonsense
