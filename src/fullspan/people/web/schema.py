"""What the API takes and gives; the OpenAPI description is made from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr


def _number(value: Any) -> Any:
    """JSON's integers, of which 37.0 is one; a text or a truth value is none."""
    if isinstance(value, str | bool):
        raise ValueError("Input should be a valid integer")
    return value


WHOLE = BeforeValidator(_number)
"""Stands after the bounds: what follows a validator is not described as bounds."""
Name = Annotated[StrictStr, Field(max_length=500)]
Level = Name | StrictInt | StrictFloat | StrictBool
Given = Annotated[
    dict[Name, Level | Annotated[list[Level], Field(max_length=1000)]],
    Field(
        max_length=5000, description="What is known: a level, or a list of levels any of which may hold, by variable."
    ),
]


CALLED = "What n_interactions counts: interaction, edge (tree), pair (mixture) or factor (network)."
DIRECTION = "1: two levels of a pair go with each other; -1: against; 0: there is no one direction."
KIND = "odds ratio; cell ratio: how many times as frequent as lower orders make it; null without effects."
MEASURE = "What a strength is: nats saved, nats shared, log ratio or range of log factor."
Number = float | None
"""A number, or null where it is infinite or not known."""


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
    """Ask how the distribution of a variable changes if one more variable is known."""

    target: Name
    given: Given = Field(default_factory=dict)
    limit: Annotated[int, Field(ge=1, le=200), WHOLE] = 30


class Sample(Body):
    """Ask for rows."""

    n: Annotated[int, Field(ge=1, le=1000), WHOLE] = 10
    seed: Annotated[int, Field(ge=0, le=2**53), WHOLE] | None = None
    given: Given = Field(default_factory=dict)


class Known(Body):
    """Ask what follows from what is known."""

    given: Given = Field(default_factory=dict)
    search: Annotated[StrictStr, Field(max_length=200)] = ""
    offset: Annotated[int, Field(ge=0, le=10**9), WHOLE] = 0
    limit: Annotated[int, Field(ge=1, le=500), WHOLE] = 100
    order: Literal["table", "changed"] = "table"


class Margins(Body):
    """Ask what follows if variables had other shares."""

    margins: Annotated[
        dict[Name, Annotated[list[StrictInt | StrictFloat], Field(max_length=1000)]],
        Field(max_length=12, description="A share for each level, in their order, by variable."),
    ]
    search: Annotated[StrictStr, Field(max_length=200)] = ""
    limit: Annotated[int, Field(ge=1, le=500), WHOLE] = 100


class Compare(Body):
    """Ask for the distributions of another model next to those of this one."""

    other: Name
    given: Given = Field(default_factory=dict)
    limit: Annotated[int, Field(ge=1, le=500), WHOLE] = 100


class RowQuestion(Body):
    """Ask about one row: pasted, or the number of a row of the table that is shown next to the model."""

    text: Annotated[StrictStr, Field(max_length=50_000, examples=["party=democrat, crime=n"])] = ""
    number: Annotated[int, Field(ge=1, le=10**12), WHOLE] | None = None


class Effect(Body):
    """Ask for one interaction."""

    variables: Annotated[list[Name], Field(min_length=2, max_length=12)]


class SampleFile(Body):
    """Ask for rows as a file."""

    n: Annotated[int, Field(ge=1, le=1_000_000), WHOLE] = 1000
    seed: Annotated[int, Field(ge=0, le=2**53), WHOLE] | None = None
    given: Given = Field(default_factory=dict)
    kind: Literal["csv", "parquet"] = "csv"


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
    n_terms: int = Field(description="Weights of the basis, those of single columns among them; 0 without terms.")
    n_interactions: int
    called: str = Field(description=CALLED)
    n_rows: int
    status: str
    data: str = Field(description="Which rows are shown next to it; empty if none are.")


class Models(BaseModel):
    """All models that are served."""

    models: list[ModelSummary]


class VariableInfo(BaseModel):
    """A variable with its levels and their probabilities when nothing is known."""

    name: str
    levels: list[str | int | float | bool]
    ordered: bool = Field(description="Whether the order of the levels has a meaning.")
    prior: list[float]


class Variables(Answer):
    """Some of the variables."""

    total: int
    variables: list[VariableInfo]


class Node(VariableInfo):
    """A variable, how many interactions it is in, and the number of its community, the largest 0."""

    degree: int
    community: int


class Edge(BaseModel):
    """A pair of variables, with its effect in words."""

    a: str
    b: str
    strength: float
    approximate: bool
    direction: int = Field(description=DIRECTION)
    kind: str | None = Field(description=KIND)
    words: str


class Group(BaseModel):
    """Three variables or more, with their effect in words."""

    members: list[str]
    strength: float
    approximate: bool
    kind: str | None = Field(description=KIND)
    words: str


class Graph(Answer):
    """A part of the interaction graph."""

    nodes: list[Node]
    edges: list[Edge]
    groups: list[Group]
    total_edges: int = Field(description="Pairs among these nodes; edges holds the strongest.")
    total_groups: int
    total_nodes: int
    total_interactions: int
    measure: str = Field(description=MEASURE)


class InteractionRow(BaseModel):
    """What one set of variables does together; ratio and interval are those of the first effect in the words."""

    words: str
    variables: list[str]
    order: int
    strength: float
    nats_saved: Number
    approximate: bool
    kind: str | None = Field(description=KIND)
    events: list[str]
    ratio: Number
    low: Number = Field(description="Lower end of the 95 % interval of the ratio.")
    high: Number
    smallest: Number = Field(description="Of an odds ratio that depends on other variables.")
    largest: Number
    direction: int = Field(description=DIRECTION)
    chosen: float = Field(description="Share of the fits of an average that have it; 1 for a single fit.")
    within: list[list[str]] = Field(description="The larger interactions that contain it.")
    weak: bool = Field(description="Whether the data do not tell it from no interaction.")


class Interactions(Answer):
    """Some of the interactions, and how to read them."""

    total: int = Field(description="Those that were asked for.")
    strongest: float = Field(description="The largest strength of all.")
    called: str = Field(description=CALLED)
    measure: str = Field(description=MEASURE)
    note: str
    interactions: list[InteractionRow]


class EffectRow(BaseModel):
    """An odds ratio, or a cell's ratio, with its 95 % interval."""

    events: list[str]
    words: str
    ratio: Number
    low: Number
    high: Number


class SharesRow(BaseModel):
    """The shares of levels in one state of the other variables: of the model, and of the rows with 95 % intervals."""

    label: str
    model: list[float]
    data: list[Number]
    low: list[Number]
    high: list[Number]
    n: Number = Field(description="Rows with this state; null without a table.")


class SharesTable(BaseModel):
    """How one variable is spread for each state of the others."""

    title: str
    heading: str
    columns: list[str]
    rows: list[SharesRow]
    left_out: str


class EffectAnswer(Answer):
    """An interaction with the shares that show it."""

    interaction: InteractionRow
    measure: str = Field(description=MEASURE)
    effects: list[EffectRow]
    shares: SharesTable
    about_rows: str = Field(description="Which rows are shown, or why none are.")
    others: list[InteractionRow] = Field(description="The strongest other interactions of these variables.")


class Term(BaseModel):
    """A weight of the basis, in words."""

    words: str
    variables: list[str]
    order: int
    weight: Number
    standard_error: Number
    nats_saved: Number
    approximate: bool
    chosen: float


class Terms(Answer):
    """Some of the weights, strongest first; none of a model without terms."""

    total: int
    headings: list[str]
    terms: list[Term]


class Distributions(Answer):
    """Distributions by variable, and the log-probability of what is known."""

    log_prob: float | None
    marginals: dict[str, list[float]]


class Moved(VariableInfo):
    """A variable with its distribution now, and how far it is from the prior (total variation)."""

    now: list[float]
    moved: float


class Consequences(Answer):
    """What follows from what is known."""

    log_prob: float | None
    total: int
    variables: list[Moved]


class Changed(Answer):
    """What follows if variables had other shares: those that were changed, and the others, most moved first."""

    total: int
    changed: list[Moved]
    variables: list[Moved]


class Compared(VariableInfo):
    """A variable with its distribution in two models."""

    now: list[float]
    other: list[float]


class Comparison(Answer):
    """The variables that two models have in common, the most different first."""

    other: str
    total: int
    variables: list[Compared]


class Common(BaseModel):
    """A model, and how many variables it has in common with this one."""

    name: str
    n_common: int


class Comparable(Answer):
    """The models that can be compared with this one."""

    models: list[Common]


class OddCell(BaseModel):
    """A cell given the rest of its row; level and probability are null where nothing stands there."""

    column: str
    level: str | int | float | bool | None
    probability: Number
    surprisal: Number
    likeliest: str | int | float | bool
    its_probability: float
    gain: Number = Field(description="Nats that the row gains when the cell is changed to the likeliest level.")


class RowAnswer(Answer):
    """How odd a row is: minus its log-probability, the share of drawn rows that are as odd, and its cells."""

    score: float
    share: float
    share_error: float
    cells: list[OddCell]
    text: str = Field(description="The row as text that can be pasted.")
    n_rows: int = Field(description="Rows of the table that can be picked.")


class Fit(BaseModel):
    """A fit and how it stands: seconds and nats per row of its steps, newest last."""

    name: str
    learner: str
    state: Literal["running", "done", "failed"]
    seconds: float
    stopping: bool
    problem: str
    words: str
    costs: list[list[float]]


class FitsAnswer(BaseModel):
    """The fits that were started from the page; none are allowed where others can reach the server."""

    allowed: bool
    fits: list[Fit]


class Row(BaseModel):
    """A state and its probability."""

    levels: list[str | int | float | bool]
    probability: float


class Reply(Answer):
    """A probability, a number of nats, or a table; the mode is a table of one row. Notes say which bins were cut."""

    probability: float | None
    nats: float | None
    variables: list[str]
    rows: list[Row]
    notes: list[str]


class WhatIfLevel(BaseModel):
    """If this level held: how probable it is, and the distribution of the target then."""

    level: str | int | float | bool
    probability: float
    target: list[float]


class WhatIfRow(BaseModel):
    """A variable, and how far knowing it changes the distribution of the target on average (total variation)."""

    variable: str
    levels: list[WhatIfLevel]
    moves: float


class WhatIfTable(Answer):
    """The variables that change the distribution of the target most."""

    target: str
    levels: list[str | int | float | bool]
    now: list[float]
    rows: list[WhatIfRow]


class Samples(Answer):
    """Rows."""

    variables: list[str]
    rows: list[list[str | int | float | bool]]


class Problem(BaseModel):
    """What is wrong, and the remedy."""

    detail: str
