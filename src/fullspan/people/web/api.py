"""The JSON API, described by OpenAPI at ``/api/openapi.json``, and the page above it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from fullspan.errors import FullspanError
from fullspan.model.record import software_version
from fullspan.people.web import schema
from fullspan.people.web.fits import Fits, Learner
from fullspan.people.web.plain import Sort
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
        403: "the request comes from another site, or only this machine may make it",
        404: "there is no such model",
        413: "the request is too large",
        415: "the request is of another type",
        422: "the request is not as described",
        503: "the question took too long, or too many are waiting",
    }.items()
}
KINDS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
BINARY = {"schema": {"type": "string", "format": "binary"}}
TABLES: dict[int | str, dict[str, Any]] = {200: {"content": dict.fromkeys(KINDS.values(), BINARY)}}
MODEL_FILE = "application/octet-stream"
ModelName = Annotated[str, Path(max_length=200, description="Name of a model, as /api/models lists it.")]


def make_app(pool: Pool, fits: Fits | None = None) -> FastAPI:
    """The application over a pool of workers, and over fits, where it may make some."""
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
    _add_changes(app, pool)
    _add_facts(app, pool)
    _add_structure(app, pool)
    _add_effects(app, pool)
    _add_fits(app, fits)
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


def _asker(pool: Pool) -> Callable[..., dict[str, Any]]:
    """What asks a model."""

    def ask(model: str, method: str, **arguments: Any) -> dict[str, Any]:
        if model not in pool.paths:
            raise HTTPException(404, f"there is no model {model!r}; the models are {', '.join(pool.paths)}")
        return pool.ask(model, method, arguments)

    return ask


def _add_questions(app: FastAPI, pool: Pool) -> None:
    ask = _asker(pool)

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


def _add_changes(app: FastAPI, pool: Pool) -> None:
    ask = _asker(pool)

    @app.post("/api/models/{model}/consequences", response_model=schema.Consequences)
    def consequences(model: ModelName, body: schema.Known) -> Any:
        """Variables with their distributions given what is known, and how far each moved."""
        return ask(model, "consequences", **body.model_dump())

    @app.post("/api/models/{model}/margins", response_model=schema.Changed)
    def margins(model: ModelName, body: schema.Margins) -> Any:
        """All variables once some have other shares and everything else is kept."""
        return ask(model, "margins", **body.model_dump())

    @app.post("/api/models/{model}/compare", response_model=schema.Comparison)
    def compare(model: ModelName, body: schema.Compare) -> Any:
        """The distributions of the variables that two models have in common."""
        if body.other not in pool.paths:
            raise HTTPException(404, f"there is no model {body.other!r}; the models are {', '.join(pool.paths)}")
        return ask(model, "compare", **body.model_dump())

    @app.post("/api/models/{model}/row", response_model=schema.RowAnswer)
    def row(model: ModelName, body: schema.RowQuestion) -> Any:
        """How odd a row is, and each of its cells given the others."""
        return ask(model, "row", **body.model_dump())

    @app.post("/api/models/{model}/sample-file", response_class=Response, responses=TABLES)
    def sample_file(model: ModelName, body: schema.SampleFile) -> Any:
        """Independent rows drawn from the model, as a file."""
        content = ask(model, "sample_file", **body.model_dump())["content"]
        return Response(content, media_type=KINDS[body.kind])


def _add_effects(app: FastAPI, pool: Pool) -> None:
    ask = _asker(pool)

    @app.post("/api/models/{model}/effect", response_model=schema.EffectAnswer)
    def effect(model: ModelName, body: schema.Effect) -> Any:
        """One interaction: its effects, the shares that show them, and the interactions next to it."""
        return ask(model, "effect", variables=body.variables)

    @app.get("/api/models/{model}/comparable", response_model=schema.Comparable)
    def comparable(model: ModelName) -> Any:
        """The other models that have variables in common with this one."""
        return ask(model, "comparable")


def _add_fits(app: FastAPI, fits: Fits | None) -> None:
    def allowed() -> Fits:
        if fits is None:
            raise HTTPException(403, "tables are fitted only where the server listens on this machine alone")
        return fits

    @app.get("/api/fits", response_model=schema.FitsAnswer)
    def all_fits() -> Any:
        """The fits that were started from the page, and whether some may be."""
        return {"allowed": fits is not None, "fits": [] if fits is None else fits.list()}

    @app.post("/api/fits", response_model=schema.Fit)
    def start(
        table: Annotated[bytes, Body(media_type="text/csv")],
        name: Annotated[str, Query(max_length=200)] = "table.csv",
        learner: Learner = "FullSpan",
    ) -> Any:
        """Fit a model to a table of text, of at most 32 MiB and 500 columns."""
        return allowed().start(name, learner, table)

    @app.post("/api/fits/{fit}/stop", response_model=schema.Fit)
    def stop(fit: ModelName) -> Any:
        """Keep the best model so far; asked again, end the fit without one."""
        return allowed().stop(fit)

    @app.get("/api/fits/{fit}/model", response_class=Response, responses={200: {"content": {MODEL_FILE: BINARY}}})
    def model_file(fit: ModelName) -> Any:
        """The file of a fitted model."""
        return Response(allowed().model(fit), media_type=MODEL_FILE)


def _add_facts(app: FastAPI, pool: Pool) -> None:
    ask = _asker(pool)

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


def _add_structure(app: FastAPI, pool: Pool) -> None:
    ask = _asker(pool)

    @app.get("/api/models/{model}/graph", response_model=schema.Graph)
    def graph(
        model: ModelName,
        focus: Annotated[str | None, Query(max_length=500)] = None,
        radius: Annotated[int, Query(ge=1, le=6)] = 1,
        limit: Annotated[int, Query(ge=1, le=500)] = 60,
    ) -> Any:
        """The interaction graph, or the part of it around a variable."""
        return ask(model, "graph", focus=focus, radius=radius, limit=limit)

    @app.get("/api/models/{model}/interactions", response_model=schema.Interactions)
    def interactions(
        model: ModelName,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        search: Annotated[str, Query(max_length=200)] = "",
        variable: Annotated[str | None, Query(max_length=500)] = None,
        sort: Sort = "strength",
        descending: bool = True,
    ) -> Any:
        """Interactions: effect in words, 95 % interval, nats saved; strongest first."""
        asked = {"search": search, "variable": variable, "sort": sort, "descending": descending}
        return ask(model, "interactions", offset=offset, limit=limit, **asked)

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
