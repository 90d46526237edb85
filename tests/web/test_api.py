"""The JSON API as a client sees it; needs the extra ``web``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the extra web is not installed")

from fullspan.people.web import Pool, guarded_app, host_names
from web.client import Answer, request

QUESTIONS = (
    *("variables", "graph", "interactions", "effect", "terms", "marginals", "consequences", "query", "what-if"),
    *("margins", "row", "sample", "sample-file", "compare", "comparable"),
)
FITS = ("/api/fits", "/api/fits/{fit}/stop", "/api/fits/{fit}/model")
HOST = {"host": "127.0.0.1:8765", "content-type": "application/json"}


class Client:
    """Requests to the guarded application."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def get(self, path: str) -> Answer:
        return request(self.app, "GET", path, headers=HOST)

    def post(self, path: str, body: Any) -> Answer:
        return request(self.app, "POST", path, json.dumps(body).encode(), HOST)


@pytest.fixture(scope="module")
def client(paths: dict[str, Path]) -> Iterator[Client]:
    pool = Pool(paths, size=1)
    yield Client(guarded_app(pool, host_names("127.0.0.1", 8765), None))
    pool.close()


def test_models_and_answers(client: Client) -> None:
    assert [m["name"] for m in client.get("/api/models").json()["models"]] == ["one", "two"]
    body = {"given": {"rain": "yes"}, "variables": ["b"]}
    found = client.post("/api/models/two/marginals", body=body).json()
    assert sum(found["marginals"]["b"]) == pytest.approx(1.0)
    reply = client.post("/api/models/one/query", body={"text": "P(rain=yes | b=1)"}).json()
    assert 0.5 < reply["probability"] < 1
    assert len(client.post("/api/models/one/sample", body={"n": 3, "seed": 1}).json()["rows"]) == 3
    table = client.post("/api/models/one/what-if", body={"target": "rain"}).json()
    assert {row["variable"] for row in table["rows"]} == {"b", "umbrella & hat"}
    assert client.get("/api/models/one/graph?focus=rain&radius=1").json()["edges"]
    rows = client.get("/api/models/one/interactions?offset=1&limit=1").json()
    assert (rows["total"], rows["measure"], len(rows["interactions"])) == (3, "nats saved", 1)
    assert client.get("/api/models/one/terms?limit=1").json()["terms"][0]["approximate"] is False
    assert client.get("/api/models/two/terms").json()["terms"] == []


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("one/query", {"text": "P(rain=purple)"}, 400, "no level"),
        ("one/query", {"text": "P(rain"}, 400, "P(rain"),
        ("one/query", {"text": "x" * 3000}, 422, "2000"),
        ("one/query", {"text": "P(b)", "more": 1}, 422, "more"),
        ("one/sample", {"n": 10**9}, 422, "1000"),
        ("one/sample", {"n": True}, 422, "n"),
        ("one/marginals", {"variables": ["b"], "given": {"rain": None}}, 422, "rain"),
        ("nobody/query", {"text": "P(b)"}, 404, "no model"),
        ("one/marginals", {"variables": ["b"], "given": {"rain": ["yes"] * 1001}}, 422, "rain"),
    ],
)
def test_wrong_questions_are_explained(client: Client, path: str, body: Any, status: int, says: str) -> None:
    answer = client.post(f"/api/models/{path}", body)
    assert answer.status == status, answer.body
    assert says in answer.json()["detail"]


def test_only_its_own_files_are_served(client: Client) -> None:
    """The page and what it loads; no path leads anywhere else."""
    page = client.get("/")
    assert page.status == 200
    assert "explorer.js" in page.body.decode()
    assert client.get("/explorer.js").headers["content-type"].startswith("text/javascript")
    for path in ("/../pyproject.toml", "/%2e%2e/%2e%2e/etc/passwd", "/static/index.html", "/api.py", "//etc/passwd"):
        assert client.get(path).status in (400, 404)


def arguments(schema: Any, known: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a JSON schema of the description allows."""
    if "$ref" in schema:
        return arguments(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return st.one_of(*(arguments(one, known) for one in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    names = st.sampled_from(["rain", "b", "umbrella & hat", "", "P(rain | b=1)", "two"]) | st.text(max_size=8)
    match schema.get("type"):
        case "integer":
            return st.integers(schema.get("minimum", -5), min(schema.get("maximum", 5), 2000))
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 2)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            return st.lists(arguments(schema["items"], known), min_size=schema.get("minItems", 0), max_size=4)
        case "object" if "properties" in schema:
            fields = {name: arguments(one, known) for name, one in schema["properties"].items()}
            required = {name: fields.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(required, optional=fields)
        case "object":
            return st.dictionaries(names, arguments(schema["additionalProperties"], known), max_size=3)
    assert schema["type"] == "string", schema
    return names.filter(lambda text: len(text) >= schema.get("minLength", 0))


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_the_description_allows_is_answered_or_explained(client: Client, question: str) -> None:
    """Whatever is asked: an answer, or a sentence that says what is wrong; no question breaks the server."""
    described = client.get("/api/openapi.json").json()
    (method, what), *_ = described["paths"][f"/api/models/{{model}}/{question}"].items()
    known = described["components"]["schemas"]
    fields = {x["name"]: arguments(x["schema"], known) for x in what["parameters"] if x["in"] == "query"}
    content = what.get("requestBody", {}).get("content", {}).get("application/json", {})
    bodies = arguments(content["schema"], known) if content else st.none()

    @settings(max_examples=25, deadline=None, derandomize=True)
    @given(st.sampled_from(["one", "two"]), st.fixed_dictionaries({}, optional=fields), bodies)
    def asked(model: str, query: dict[str, Any], body: Any) -> None:
        pairs = {k: json.dumps(v) if isinstance(v, bool) else v for k, v in query.items() if v is not None}
        path = f"/api/models/{model}/{question}?{urlencode(pairs)}"
        answer = client.get(path) if method == "get" else client.post(path, body)
        assert answer.status in (200, 400, 404)
        if answer.status != 200:
            assert answer.json()["detail"]

    asked()


def test_the_description_covers_every_question(client: Client) -> None:
    described = client.get("/api/openapi.json").json()
    assert set(described["paths"]) == {
        "/api/models",
        *(f"/api/models/{{model}}/{x}" for x in QUESTIONS),
        *FITS,
    }
    for methods in described["paths"].values():
        for what in methods.values():
            assert {"200", "400", "413", "422", "503"} <= set(what["responses"])
