"""The JSON API, described by OpenAPI at ``/api/openapi.json``, and the page above it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from fullspan.errors import FullspanError
from fullspan.model.record import software_version
from fullspan.people.web import schema
from fullspan.people.web.worker import Overloaded, Pool
from fullspan.processes import TookTooLong

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": schema.Problem, "description": text}
    for code, text in {
        400: "the question is wrong",
        401: "a token is needed",
        404: "there is no such model",
        413: "the request is too large",
        415: "the request is not JSON",
        422: "the request is not as described",
        503: "the question took too long, or too many are waiting",
    }.items()
}
ModelName = Annotated[str, Path(max_length=200, description="Name of a model, as /api/models lists it.")]


def make_app(pool: Pool) -> FastAPI:
    """The application over a pool of workers."""
    app = FastAPI(
        title="Fullspan explorer",
        version=software_version(),
        description="Answers about probability models of discrete data, exact under the model.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
    )
    _explain_problems(app)
    _add_questions(app, pool)
    _add_facts(app, pool)
    _add_page(app)
    return app


def _explain_problems(app: FastAPI) -> None:
    @app.exception_handler(FullspanError)
    async def wrong(_: Request, error: FullspanError) -> Response:
        return JSONResponse({"detail": str(error)}, 400)

    @app.exception_handler(TookTooLong)
    async def slow(_: Request, error: TookTooLong) -> Response:
        return JSONResponse({"detail": str(error)}, 503)

    @app.exception_handler(Overloaded)
    async def full(_: Request, error: Overloaded) -> Response:
        return JSONResponse({"detail": str(error)}, 503, {"retry-after": "5"})

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> Response:
        found = error.errors()
        place = ".".join(str(part) for part in found[0].get("loc", ())) if found else "request"
        return JSONResponse({"detail": f"{place}: {found[0].get('msg', 'not as described') if found else ''}"}, 422)

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"detail": str(error.detail)}, error.status_code, error.headers)


def _add_questions(app: FastAPI, pool: Pool) -> None:
    def ask(model: str, method: str, **arguments: Any) -> dict[str, Any]:
        if model not in pool.paths:
            raise HTTPException(404, f"there is no model {model!r}; the models are {', '.join(pool.paths)}")
        return pool.ask(model, method, arguments)

    @app.post("/api/models/{model}/marginals", response_model=schema.Distributions)
    def marginals(model: ModelName, body: schema.Marginals) -> Any:
        """Distributions of variables, given what is known."""
        return ask(model, "distributions", given=body.given, variables=body.variables)

    @app.post("/api/models/{model}/query", response_model=schema.Reply)
    def query(model: ModelName, body: schema.Question) -> Any:
        """Answer a question such as P(A=a | B=b)."""
        return ask(model, "ask", text=body.text, given=body.given)

    @app.post("/api/models/{model}/what-if", response_model=schema.WhatIfTable)
    def what_if(model: ModelName, body: schema.WhatIf) -> Any:
        """How the distribution of a variable changes if one more variable is known."""
        return ask(model, "what_if", target=body.target, given=body.given, limit=body.limit)

    @app.post("/api/models/{model}/sample", response_model=schema.Samples)
    def sample(model: ModelName, body: schema.Sample) -> Any:
        """Independent rows drawn from the model, given what is known."""
        return ask(model, "sample", n=body.n, seed=body.seed, given=body.given)


def _add_facts(app: FastAPI, pool: Pool) -> None:
    def ask(model: str, method: str, **arguments: Any) -> dict[str, Any]:
        if model not in pool.paths:
            raise HTTPException(404, f"there is no model {model!r}; the models are {', '.join(pool.paths)}")
        return pool.ask(model, method, arguments)

    @app.get("/api/models", response_model=schema.Models)
    def models() -> Any:
        """The models."""
        return {"models": [{"name": name, **pool.ask(name, "summary", {})} for name in pool.paths]}

    @app.get("/api/models/{model}/variables", response_model=schema.Variables)
    def variables(
        model: ModelName,
        search: Annotated[str, Query(max_length=200)] = "",
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> Any:
        """Variables whose names hold a text."""
        return ask(model, "variables", search=search, offset=offset, limit=limit)

    @app.get("/api/models/{model}/graph", response_model=schema.Graph)
    def graph(
        model: ModelName,
        focus: Annotated[str | None, Query(max_length=500)] = None,
        radius: Annotated[int, Query(ge=1, le=6)] = 1,
        limit: Annotated[int, Query(ge=1, le=150)] = 60,
    ) -> Any:
        """The interaction graph, or the part of it around a variable."""
        return ask(model, "graph", focus=focus, radius=radius, limit=limit)

    @app.get("/api/models/{model}/interactions", response_model=schema.Interactions)
    def interactions(
        model: ModelName,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> Any:
        """Interactions: effect in words, 95 % interval, nats saved; strongest first."""
        return ask(model, "interactions", offset=offset, limit=limit)

    @app.get("/api/models/{model}/terms", response_model=schema.Terms)
    def terms(
        model: ModelName,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> Any:
        """The weights of the basis in words, strongest first."""
        return ask(model, "terms", offset=offset, limit=limit)


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page, read once, by their names; no other file can be named."""
    assets = {f"/{name}": (content, TYPES[f".{name.rsplit('.', 1)[-1]}"]) for name, content in page_files().items()}
    assets["/"] = assets["/index.html"]

    def serve(request: Request) -> Response:
        content, kind = assets[request.url.path]
        return Response(content, media_type=kind)

    for address in assets:
        app.add_api_route(address, serve, include_in_schema=False, response_model=None)


def page_files() -> dict[str, bytes]:
    """The built page: ``index.html`` and what it loads, by name."""
    folder = files("fullspan.people.web") / "static"
    return {
        entry.name: entry.read_bytes() for entry in folder.iterdir() if f".{entry.name.rsplit('.', 1)[-1]}" in TYPES
    }


def description(pool: Pool) -> str:
    """The OpenAPI description as text."""
    return json.dumps(make_app(pool).openapi(), indent=2)
