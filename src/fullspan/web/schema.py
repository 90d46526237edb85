"""What the API takes and gives; the OpenAPI description is made from it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr


def _number(value: Any) -> Any:
    """JSON's integers, of which 37.0 is one; a text or a truth value is none."""
    if isinstance(value, str | bool):
        raise ValueError("Input should be a valid integer")
    return value


Whole = Annotated[int, BeforeValidator(_number)]
Name = Annotated[StrictStr, Field(max_length=500)]
Level = Name | StrictInt | StrictFloat | StrictBool
Given = Annotated[
    dict[Name, Level | Annotated[list[Level], Field(max_length=100)]],
    Field(
        max_length=5000, description="What is known: a level, or a list of levels any of which may hold, by variable."
    ),
]


class Body(BaseModel):
    """A request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Marginals(Body):
    """Ask for the distribution of variables, given what is known."""

    given: Given = Field(default_factory=dict)
    variables: Annotated[list[Name], Field(max_length=500)]


class Question(Body):
    """Ask in words."""

    text: Annotated[StrictStr, Field(min_length=1, max_length=2000, examples=["P(party=democrat | crime=n)"])]
    given: Given = Field(default_factory=dict)


class WhatIf(Body):
    """Ask how a variable would move if one more were known."""

    target: Name
    given: Given = Field(default_factory=dict)
    limit: Annotated[Whole, Field(ge=1, le=200)] = 30


class Sample(Body):
    """Ask for rows."""

    n: Annotated[Whole, Field(ge=1, le=1000)] = 10
    seed: Annotated[Whole, Field(ge=0, le=2**53)] | None = None
    given: Given = Field(default_factory=dict)


class Answer(BaseModel):
    """Every answer says from which version of the model file it is, and whether that is out of date."""

    version: str
    stale: str | None


class ModelSummary(Answer):
    """A model."""

    name: str
    kind: str
    n_variables: int
    log2_states: float
    n_terms: int
    n_pairs: int
    n_rows: int
    status: str


class Models(BaseModel):
    """All models that are served."""

    models: list[ModelSummary]


class VariableInfo(BaseModel):
    """A variable with its levels and their probabilities when nothing is known."""

    name: str
    levels: list[str | int | float | bool]
    prior: list[float]


class Variables(Answer):
    """Some of the variables."""

    total: int
    variables: list[VariableInfo]


class Node(BaseModel):
    """A variable, and how many terms it is in."""

    name: str
    degree: int


class Edge(BaseModel):
    """A pair: direction is 1 where they go together, -1 where against, 0 where neither."""

    a: str
    b: str
    strength: float
    direction: int


class Group(BaseModel):
    """Three variables or more."""

    members: list[str]
    strength: float


class Graph(Answer):
    """A part of the interaction graph."""

    nodes: list[Node]
    edges: list[Edge]
    groups: list[Group]
    total_nodes: int
    total_terms: int
    measure: str = Field(description="What a strength is, such as nats saved.")


class Term(BaseModel):
    """A term in words."""

    words: str
    variables: list[str]
    order: int
    weight: float | None
    standard_error: float | None
    nats_saved: float | None


class Terms(Answer):
    """Some of the terms, strongest first."""

    total: int
    terms: list[Term]


class Distributions(Answer):
    """Distributions by variable, and the log-probability of what is known."""

    log_prob: float | None
    marginals: dict[str, list[float]]


class Row(BaseModel):
    """A state and its probability."""

    levels: list[str | int | float | bool]
    probability: float


class Reply(Answer):
    """A probability, a number of nats, or a table; the mode is a table of one row."""

    probability: float | None
    nats: float | None
    variables: list[str]
    rows: list[Row]


class WhatIfLevel(BaseModel):
    """If this level held: how probable it is, and the distribution of the target then."""

    level: str | int | float | bool
    probability: float
    target: list[float]


class WhatIfRow(BaseModel):
    """A variable, and how far knowing it would move the target on average."""

    variable: str
    levels: list[WhatIfLevel]
    moves: float


class WhatIfTable(Answer):
    """The variables that would move the target most."""

    target: str
    levels: list[str | int | float | bool]
    now: list[float]
    rows: list[WhatIfRow]


class Samples(Answer):
    """Rows."""

    variables: list[str]
    rows: list[list[str | int | float | bool]]


class Problem(BaseModel):
    """What is wrong, and the way out."""

    detail: str
