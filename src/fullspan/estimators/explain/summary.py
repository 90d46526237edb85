"""A fit as statisticians read it: measures of fit, coefficients with errors, and where it fits badly."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError, require_one_of
from fullspan.estimators.explain.endings import GIVEN, ended_early, ending, ending_words
from fullspan.estimators.explain.interactions import WIDTH, InteractionTable, is_searched, is_singular, shrunk_by
from fullspan.estimators.explain.limits import likelihood_line, row_words
from fullspan.estimators.explain.terms import aligned, folded
from fullspan.model.effects.words import event_words, label

if TYPE_CHECKING:
    from fullspan.estimators.explain.residuals import Residuals
    from fullspan.model.algebra.basis import Basis
    from fullspan.model.fitted import Fitted
    from fullspan.model.goodness import Goodness

COEFFICIENTS, INTERACTIONS = 40, 10
"""Coefficients and interactions that are printed."""
CODINGS = ("sum", "treatment", "basis")
_READ_AS = {
    "sum": "sum-to-zero coding: above 0, the named levels are more frequent together than lower orders expect",
    "treatment": "treatment coding, against the first levels: above 0, the named levels are more frequent together",
}
_ZERO_ONE = "the basis: 1 where all the named levels hold, else 0; the same as treatment coding"
_PLUS_MINUS = "the basis: a term is the product of +1 where a value it names holds, and -1 where not"
_AVERAGE = (
    "An average of fits: estimates are means of the weights over the fits that have the term, and spread is the "
    "standard deviation between these fits, not a standard error. The averaged distribution has no weights of its own."
)
_SELECTED = (
    "The terms were chosen by a search in the same rows: standard errors leave that choice out, and p-values would be "
    "too small, so none are given."
)
_SINGULAR = (
    "Models with hidden variables are singular: chi-squared and normal limits do not hold, so no p-values are given; "
    "standard errors, AIC and BIC are rough."
)
SPARSE_SHARE = 0.2
"""Share of cells with an expected count below 5 from which on chi-squared p-values are doubtful."""


@dataclass(frozen=True)
class Coefficient:
    """A weight with its error and Wald test.

    Attributes
    ----------
    term : the term, such as ``a=y:b=n``.
    estimate : its weight; infinite where there is no finite maximum.
    standard_error, z, p_value : NaN where the data do not determine the weight.
    """

    term: str
    estimate: float
    standard_error: float
    z: float
    p_value: float

    @property
    def diverges(self) -> bool:
        """Whether the weight has no finite maximum."""
        return math.isinf(self.estimate)


def coefficients(fitted: Fitted, coding: str = "sum", covariance: Any = None) -> tuple[Coefficient, ...]:
    """The weights in a coding, the smaller sets of variables first; those of the basis in the order of the terms.

    Parameters
    ----------
    covariance : of the weights, from which errors follow; without it, those that are stored.

    Raises
    ------
    FullspanError : the coding is unknown, or the model has no such coding.
    """
    return _coded(fitted, coding, covariance)[1]


def _coded(fitted: Fitted, coding: str, covariance: Any) -> tuple[str, tuple[Coefficient, ...]]:
    """The coding used, and the coefficients: the basis stands in where the default coding is not to be had."""
    from fullspan.learn.effects.coefficients import coded

    require_one_of(CODINGS, coding=coding)
    model, found = fitted.model, None
    if _only_basis(fitted) and coding == "treatment":
        raise FullspanError("an average or a truncated machine has no treatment coding; use coding='basis'")
    if not _only_basis(fitted) and coding != "basis" and not (coding == "treatment" and model.basis.zero_one):
        found = coded(fitted, covariance, coding)  # type: ignore[arg-type]
    if found is None:
        names = [label(model.space, model.basis, term) for term in model.terms]
        used = "treatment" if coding == "treatment" and model.basis.zero_one else "basis"
        return used, _listed_coefficients(fitted, names, fitted.weights, fitted.standard_errors)
    errors, stored = found.errors, fitted.coefficient_errors
    if covariance is None and coding == "sum" and stored is not None and len(stored) == len(errors):
        errors = stored
    names = [_cell(fitted, cell) for cell in found.cells]
    return coding, _listed_coefficients(fitted, names, found.estimates, errors)


def _is_average(fitted: Fitted) -> bool:
    """Whether the weights are means over several fits, and their errors the spread between these."""
    return fitted.kind == "averaged"


def _is_tested(fitted: Fitted) -> bool:
    """Whether p-values hold: rows that chose the terms cannot test the fit, and singular models have no such limit."""
    return not (is_searched(fitted) or is_singular(fitted))


def _only_basis(fitted: Fitted) -> bool:
    """Whether the weights have no other coding: on a truncated space cells of the coding may not exist."""
    return fitted.kind in ("truncated", "averaged")


def _cell(fitted: Fitted, cell: tuple[tuple[int, int], ...]) -> str:
    return ":".join(event_words(fitted.model.space.variables[i], [code]) for i, code in cell)


def _listed_coefficients(fitted: Fitted, names: Any, estimates: Any, errors: Any) -> tuple[Coefficient, ...]:
    tested = _is_tested(fitted)
    found = []
    for name, estimate, error in zip(names, estimates, errors, strict=True):
        known = math.isfinite(estimate) and error > 0
        z = float(estimate / error) if known and not _is_average(fitted) else math.nan
        p = math.erfc(abs(z) / math.sqrt(2)) if known and tested else math.nan
        found.append(Coefficient(name, float(estimate), float(error) if known else math.nan, z, p))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Summary:
    """What ``print(model.summary())`` shows.

    Attributes
    ----------
    fitted : the model and what was learned about it.
    coefficients : one :class:`Coefficient` per term.
    goodness : measures of fit, or None.
    residuals : the largest Pearson residuals, or None where the data are not at hand.
    coding : of the coefficients: ``"sum"``, ``"treatment"`` or ``"basis"``.
    """

    fitted: Fitted
    coefficients: tuple[Coefficient, ...]
    goodness: Goodness | None
    residuals: Residuals | None
    coding: str = "sum"

    @classmethod
    def of(
        cls, fitted: Fitted, residuals: Residuals | None = None, coding: str = "sum", covariance: Any = None
    ) -> Summary:
        used, found = _coded(fitted, coding, covariance)
        goodness = fitted.goodness
        if goodness is not None and not _is_tested(fitted):
            goodness = replace(goodness, p_value=math.nan, pearson_p_value=math.nan)
        return cls(fitted, found, goodness, residuals, used)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, as JSON holds them; numbers that are not known are NaN, diverging weights infinite."""
        fitted = self.fitted
        return {
            "n_rows": fitted.n_rows,
            "n_dropped": fitted.n_dropped,
            "total": fitted.total,
            "variables": list(self._names()),
            "hidden": list(self._names(hidden=True)),
            "basis": fitted.model.basis.name,
            "coding": self.coding,
            "solver": fitted.settings.get("solver"),
            "iterations": fitted.settings.get("iterations"),
            "status": fitted.status,
            "goodness": None if self.goodness is None else asdict(self.goodness),
            "interactions": InteractionTable.of(fitted).to_dicts(),
            "coefficients": [asdict(c) | {"diverges": c.diverges} for c in self.coefficients],
            "residuals": None if self.residuals is None else self.residuals.to_dicts(),
        }

    def _names(self, hidden: bool = False) -> tuple[str, ...]:
        names, n = self.fitted.model.space.names, len(self.fitted.model.space) - self.fitted.n_hidden
        return names[n:] if hidden else names[:n]

    # -- text -------------------------------------------------------------------------------------------------

    def text(self, top: int | None = COEFFICIENTS) -> str:
        """What is printed, with the first ``top`` coefficients, or all for None."""
        parts = [self._heading(), self._fit(), self._interactions(), self._coefficients(top), self._residuals()]
        return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part)))

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def opening(self) -> str:
        """What stands above the tables: the rows, the weights, the solver and the measures of fit."""
        return "\n\n".join("\n".join(lines) for part in (self._heading(), self._fit()) if (lines := list(part)))

    def _heading(self) -> Iterator[str]:
        fitted, settings = self.fitted, self.fitted.settings
        names, hidden = self._names(), self._names(hidden=True)
        rows = "probabilities" if settings.get("from_margins") and self.goodness is None else row_words(fitted)
        given = "margins of " if settings.get("from_margins") else ""
        is_given = fitted.status == GIVEN
        yield f"{'' if is_given else f'{given}{rows}, '}{len(names)} variables: {_listed(names)}"
        if hidden:
            unused = "" if is_singular(fitted) else "; no term has any of them"
            yield f"{len(hidden)} hidden: {_listed(hidden)}{unused}"
        basis = fitted.model.basis.name
        on = f", on {len(states):,} states" if (states := fitted.model.listed_states) is not None else ""
        n = len(fitted.model.terms)
        terms = "term" if _is_average(fitted) else "weight"
        of_fits = ", in an average of fits" if _is_average(fitted) else ""
        yield f"{n} {terms}{'' if n == 1 else 's'} in the {basis} basis{on}{of_fits}{_penalties(settings)}"
        early = ended_early(fitted.status)
        # The number of iterations of a fit that converged may differ by one between processors, so it is not printed.
        steps = f", {settings['iterations']} iterations" if early and settings.get("iterations") is not None else ""
        how = f"solver {settings['solver']}{steps}: " if "solver" in settings else ""
        yield ending(fitted).sentence if is_given else f"{how}{ending_words(fitted) if early else fitted.status}"

    def _fit(self) -> Iterator[str]:
        g = self.goodness
        if g is None:
            if not math.isnan(self.fitted.divergence):
                yield likelihood_line(self.fitted)
                yield from self._likelihood()
            return
        if not math.isnan(g.g2):
            yield from aligned(
                [
                    ("", "statistic", "df", "p-value"),
                    ("deviance G2", _number(g.g2, 3), str(g.df), _probability(g.p_value)),
                    ("Pearson X2", _number(g.pearson, 3), str(g.df), _probability(g.pearson_p_value)),
                ]
            )
        sparse = self.fitted.settings.get("sparse_cells")
        if g.df > 0 and not math.isnan(g.g2) and sparse is not None and sparse > SPARSE_SHARE:
            yield (
                f"caution: the expected count is below 5 in {sparse:.0%} of the cells, so the chi-squared p-values of "
                "G2 and X2 are unreliable"
            )
        if g.df > 0 and not math.isnan(g.g2) and is_searched(self.fitted):
            yield "the terms were chosen from the same rows: a p-value of G2 or X2 would leave that choice out"
        yield f"log-likelihood {g.log_likelihood:.4f} on {g.n_parameters} weights, AIC {g.aic:.3f}, BIC {g.bic:.3f}"
        if g.df != g.nominal_df and not self.fitted.is_conditional:
            yield self._why_df(g)

    def _likelihood(self) -> Iterator[str]:
        """The likelihood where log Z may have been estimated."""
        found = self.fitted.log_z
        mean = -self.fitted.divergence - self.fitted.entropy
        if "log_z" in self.fitted.settings:
            how = "log Z summed exactly" if found.exact else "log Z by annealed importance sampling"
            number = f"{mean:.4f}" if found.exact else f"{mean:.4f} ± {found.error:.4f}"
            yield f"mean log-likelihood {number} nats per row, {how}"

    def _why_df(self, g: Goodness) -> str:
        if self.fitted.diverging:
            why = (
                f"the limit lives on {g.n_cells:,} cells, where {g.n_parameters} combinations of weights are determined"
            )
        else:
            why = "weights that the penalty sets to 0 are not counted"
        return f"df: {why}; counting all cells and weights gives {g.nominal_df}."

    def interactions(self) -> InteractionTable:
        """The strongest interactions, which no coding changes; empty where they have not been worked out."""
        return InteractionTable.of(self.fitted)

    def _interactions(self) -> Iterator[str]:
        found = self.interactions()
        if len(found):
            shown = found[:INTERACTIONS]
            yield from aligned(folded([shown.headings, *shown.cells()], WIDTH))
            yield from _more(len(found) - INTERACTIONS)
            yield from shown.notes

    def coefficient_rows(self, top: int | None) -> list[tuple[str, ...]]:
        """The first ``top`` coefficients as text, headings first; z and p-values only where the terms were given."""
        average = _is_average(self.fitted)
        columns = 5 if not average and _is_tested(self.fitted) else 3
        heading = ("coefficient", "estimate", "spread" if average else "std. error", "z", "p-value")
        return [row[:columns] for row in (heading, *map(_cells, self.coefficients[:top]))]

    def notes(self, top: int | None) -> Iterator[str]:
        """What stands below the coefficients."""
        yield from _more(len(self.coefficients) - len(self.coefficients[:top]))
        if any(c.diverges for c in self.coefficients):
            yield "-inf, +inf: no finite maximum; the fitted distribution is the limit"
        if _is_average(self.fitted):
            yield _AVERAGE
        elif any(math.isnan(c.standard_error) and not c.diverges for c in self.coefficients):
            yield "NA: not determined by the data, or not stored with the model"
        yield _READ_AS.get(self.coding) or _basis_words(self.fitted.model.basis)
        if is_searched(self.fitted) and not _is_average(self.fitted):
            yield _SELECTED
        if is_singular(self.fitted):
            yield _SINGULAR

    def _coefficients(self, top: int | None) -> Iterator[str]:
        if self.coefficients:
            yield from aligned(self.coefficient_rows(top))
            yield from self.notes(top)

    def _residuals(self) -> Iterator[str]:
        if self.residuals:
            yield "largest residuals"
            yield from aligned(self.residuals.cells())


def _more(n: int) -> Iterator[str]:
    if n > 0:
        yield f"... and {n} more"


def _basis_words(basis: Basis) -> str:
    """How the functions of a basis are read."""
    return _ZERO_ONE if basis.zero_one else _PLUS_MINUS


def _penalties(settings: Any) -> str:
    shrunk = shrunk_by(settings)
    return f", shrunk by {shrunk}: errors and p-values are approximate" if shrunk else ""


def _cells(c: Coefficient) -> tuple[str, ...]:
    return (c.term, _number(c.estimate, 4), _number(c.standard_error, 4), _number(c.z, 2), _probability(c.p_value))


def _number(value: float, digits: int) -> str:
    if math.isnan(value):
        return "NA"
    return f"{value:+}" if math.isinf(value) else f"{round(value, digits) + 0.0:.{digits}f}"


def _probability(p: float) -> str:
    if math.isnan(p):
        return "NA"
    return "<2e-16" if p < 2e-16 else f"{p:.2e}" if p < 1e-4 else f"{p:.4f}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
