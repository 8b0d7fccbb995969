from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

import glassformer as gf
from explorer_client import INPUTS, Traced, client, foreign, tiny_run
from glassformer.explorer import app as app_module
from glassformer.explorer.app import LIMITS, STATIC, make_app
from glassformer.explorer.shelf import Shelf
from glassformer.words import LANGUAGES, sentences

DOCUMENT: dict[str, Any] = json.loads((STATIC.parent / "openapi.json").read_text(encoding="utf-8"))
TASKS = tuple(INPUTS)
TRANSLATION = {"model": "tiny-translation", "input": INPUTS["translation"]}
ASKED: dict[str, Any] = {  # what each documented route is asked; a new route adds its own
    "/": None,
    "/healthz": None,
    "/openapi.json": None,
    "/api/limits": None,
    "/api/words/{lang}": "/api/words/ko",
    "/api/models": None,
    "/api/lesson/{name}": "/api/lesson/warmup?lang=ko",
    "/api/norm": "/api/norm?model=tiny-translation&name=encoder.final_norm",
    "/api/runs/{name}/events": "/api/runs/tiny-translation/events?after=1",
    "/api/tokenize": {"model": "tiny-translation", "text": "우리는 자주 웃는다"},
    "/api/trace": TRANSLATION,
    "/api/why": TRANSLATION | {"name": "encoder.blocks.0.self_attention.weights", "index": [0, 0, 0]},
    "/api/sweep": TRANSLATION,
    "/api/rewritten": TRANSLATION,
    "/api/lens": TRANSLATION,
    "/api/gradients": TRANSLATION | {"row": 0},
    "/api/compare": {"a": TRANSLATION, "b": TRANSLATION | {"head": 1}},
    "/api/count": {"model": "tiny-translation", "set": {"layers": 2}},
    "/api/decode": TRANSLATION | {"kind": "next"},
    "/api/snippet": TRANSLATION | {"name": "encoder.blocks.0.self_attention.weights", "index": [0, 0, 0]},
    "/api/glossary": "/api/glossary?lang=ko",
    "/api/export": TRANSLATION | {"asked": [{"path": "/api/lens", "body": {}}]},
}


@pytest.fixture(scope="module")
def asked() -> TestClient:
    return client(*map(tiny_run, TASKS), foreign("bert"), foreign("gpt2"))


def operations() -> Iterator[tuple[str, str]]:
    for path, methods in DOCUMENT["paths"].items():
        for method in methods:
            yield path, method.upper()


def resolved(schema: Any) -> Any:
    """A schema that finds #/components in the whole document."""
    return {"components": DOCUMENT["components"], **schema}


# --- openapi.json, both ways ---


def test_each_route_is_documented_and_each_documented_route_exists() -> None:
    routes = make_app(Shelf(packaged=False)).routes
    served = {(one.path, method) for one in routes if isinstance(one, Route) for method in one.methods or ()}
    assert {(path, method) for path, method in served if method != "HEAD"} == set(operations())


def test_the_document_is_what_is_served(asked: TestClient) -> None:
    assert asked.get("/openapi.json").json() == DOCUMENT


@pytest.mark.parametrize(("path", "method"), [*operations()])
def test_each_documented_route_answers_as_documented(asked: TestClient, path: str, method: str) -> None:
    given = ASKED[path]
    operation = DOCUMENT["paths"][path][method.lower()]
    if method == "POST":
        jsonschema.validate(given, resolved(operation["requestBody"]["content"]["application/json"]["schema"]))
        answer = asked.post(path, json=given)
    else:
        answer = asked.get(given or path)
    assert answer.status_code == 200, answer.text
    kind = answer.headers["content-type"].partition(";")[0]
    documented = operation["responses"]["200"]["content"][kind]["schema"]
    if kind == "application/json":
        jsonschema.validate(answer.json(), resolved(documented))


@pytest.mark.parametrize(("path", "method"), [*operations()])
def test_what_fails_is_documented(asked: TestClient, path: str, method: str) -> None:
    """A body without sense, a method that is not taken, another host: statuses and forms are those of the document."""
    statuses = DOCUMENT["paths"][path][method.lower()]["responses"]
    address = path.replace("{lang}", "xx").replace("{name}", "no-such")
    answers = [asked.request(method, address, headers={"host": "example.org"})]
    if method == "POST":
        answers += [asked.post(address, json=body) for body in ({}, {"model": 3}, {"model": "no"}, {"nobody": 1})]
    elif address != path:
        answers.append(asked.get(address))
    for answer in answers:
        assert str(answer.status_code) in statuses
        jsonschema.validate(answer.json(), resolved(DOCUMENT["components"]["schemas"]["Error"]))
        assert answer.json()["error"] and "\n" not in answer.json()["error"]
    other = asked.request("DELETE", path)
    assert (other.status_code, other.json()["kind"]) == (405, "method")


def test_limits_and_time_outs_can_be_asked_for(asked: TestClient) -> None:
    assert asked.get("/api/limits").json() == LIMITS
    assert set(LIMITS) == set(DOCUMENT["components"]["schemas"]["Limits"]["properties"])


# --- the page and its words ---


def test_every_file_of_the_page_is_served_with_its_type(asked: TestClient) -> None:
    types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    for path in (each for each in STATIC.rglob("*") if each.is_file()):
        answer = asked.get(f"/static/{path.relative_to(STATIC).as_posix()}")
        assert answer.content == path.read_bytes()
        if path.suffix in types:
            assert answer.headers["content-type"].startswith(types[path.suffix])
    assert asked.get("/").content == (STATIC / "index.html").read_bytes()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_words_are_those_of_the_product(asked: TestClient, lang: str) -> None:
    found, ours = asked.get(f"/api/words/{lang}").json(), sentences(lang)
    assert found and all(ours[key] == text for key, text in found.items())


# --- models ---


def test_every_model_of_the_list_says_what_it_is(asked: TestClient) -> None:
    models = {one["name"]: one for one in asked.get("/api/models").json()["models"]}
    assert {one["task"] for one in models.values()} == set(TASKS)
    for task in TASKS:
        one, loaded = models[f"tiny-{task}"], gf.load(tiny_run(task))
        config = loaded.config.model
        assert (one["family"], one["input"], one["labels"]) == (config.family, config.input.kind, loaded.labels)
        assert one["parameters"] == sum(x.numel() for x in loaded.model.parameters())
        sizes = (config.d_model, config.n_heads, config.head_size, config.d_ff)
        assert sizes == tuple(one["sizes"][key] for key in ("d_model", "n_heads", "d_k", "d_ff"))
        assert one["checkpoints"] and one["examples"]
    assert models["explorer-bert"]["task"] == "masked_language_model" and models["explorer-bert"]["checkpoints"] == []


@pytest.mark.slow
def test_every_example_of_every_model_of_the_package_runs() -> None:
    asked = client(packaged=True)
    for model in asked.get("/api/models").json()["models"]:
        assert model["examples"], model["name"]
        for example in model["examples"]:
            given = {key: value for key, value in example.items() if key not in ("pixels", "values", "series")}
            answer = asked.post("/api/trace", json={"model": model["name"], "input": given, "layers": [0]})
            assert answer.status_code == 200, answer.text
            both = {key: value for key, value in example.items() if key != "example"}
            again = asked.post("/api/trace", json={"model": model["name"], "input": both, "layers": [0]})
            assert Traced(again.content).about["output"] == Traced(answer.content).about["output"]


# --- errors ---


def test_an_unforeseen_error_is_json_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tiny_run("classification")
    asked = TestClient(
        make_app(Shelf([run], packaged=False)), base_url="http://127.0.0.1", raise_server_exceptions=False
    )

    def fail(*_: Any) -> None:
        raise RuntimeError("secret /home/somebody")

    monkeypatch.setattr(app_module, "run", fail)
    answer = asked.post("/api/trace?lang=en", json={"model": run.name, "input": INPUTS["classification"]})
    assert answer.status_code == 500 and answer.json()["kind"] == "internal"
    assert "secret" not in answer.text and "default-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fault_of_the_product_is_its_own_sentence(asked: TestClient, lang: str) -> None:
    body = {"model": "tiny-classification", "input": {"text": ""}}
    answer = asked.post(f"/api/trace?lang={lang}", json=body)
    assert answer.status_code == 422
    assert answer.json() == {"error": sentences(lang)["errors.empty_text"], "kind": "input"}


def test_the_wheel_takes_the_page_along() -> None:
    """What stands below static/ and openapi.json is named as package data; tests/architecture builds a wheel."""
    named = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '"explorer/openapi.json", "explorer/saved.html", "explorer/static/**/*"' in named
