"""What every fitted model has, whatever its kind: the rows it was learned from, how the fit went, and its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from fullspan.arrays import Array
from fullspan.data.space import Space


class Model(Protocol):
    """A distribution over the states of a space; ``kind`` is the name of its files."""

    @property
    def kind(self) -> str: ...
    @property
    def space(self) -> Space: ...


class Component(Model, Protocol):
    """A normalised distribution that a mixture may have as a part; ``kind`` says how it is summed and written."""

    @property
    def width(self) -> int:
        """Most variables of a table, less one."""

    @property
    def n_parameters(self) -> int:
        """Numbers that it has."""

    def log_weight(self, states: Any) -> Array:
        """``log p(x)`` of complete states (m, n) -> (m,), in nats."""

    def reordered(self, order: Sequence[int]) -> Component:
        """The same distribution of the variables in another order."""

    def factors_alone(self) -> Component | None:
        """The same as a product of factors of its variables; None where it has hidden ones."""


AnyModel = TypeVar("AnyModel", bound=Model, covariant=True)


class StepLike(Protocol):
    """A row of the history, whatever class holds it."""

    @property
    def move(self) -> str: ...
    @property
    def n_terms(self) -> int: ...
    @property
    def cost(self) -> float: ...
    @property
    def seconds(self) -> float: ...


@dataclass(frozen=True)
class Step:
    """One move of a search: what was done, the number of terms afterwards, the cost in nats per row.

    ``words`` are for progress reports where a number of terms and a cost would not do; files do not keep them.
    """

    move: str
    n_terms: int
    cost: float
    seconds: float
    words: str = field(default="", compare=False)


@cache
def software_version() -> str:
    """Version of the installed package."""
    from importlib import metadata

    try:
        return metadata.version("fullspan")
    except metadata.PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, eq=False, kw_only=True)
class FitRecord(Generic[AnyModel]):
    """A model together with what was learned about it; each kind of model adds what only it has.

    Attributes
    ----------
    model : the distribution.
    total : number of rows N, or the sum of their weights.
    n_rows, n_dropped : rows read, and those of them dropped because of missing values.
    history : the moves of a search, or the iterations or epochs of a fit.
    status : ``"converged"``, ``"interrupted"``, or another word for how the fit ended.
    settings : how the model was fitted; JSON values only.
    fingerprint : of the data.
    version : of the software that fitted the model.
    """

    model: AnyModel
    total: float
    n_rows: int
    n_dropped: int = 0
    history: tuple[StepLike, ...] = ()
    status: str = "converged"
    settings: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    version: str = field(default_factory=software_version)

    @property
    def kind(self) -> str:
        """The kind of model, as its file names it."""
        return self.model.kind

    @property
    def space(self) -> Space:
        """The variables."""
        return self.model.space

    @property
    def is_conditional(self) -> bool:
        """Whether the model was learned to predict some columns from others, whose distribution it does not have."""
        return bool(self.settings.get("roles") or self.settings.get("inputs"))
