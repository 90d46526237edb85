"""The first paragraph of a report, in plain words: what was found, how well it predicts, what it leaves out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fullspan.estimators.compare.comparison import Comparison
from fullspan.estimators.explain.interactions import interval_text, is_searched, is_singular
from fullspan.estimators.explain.limits import approach, likelihood_line, mean_log_likelihood, misfit_words
from fullspan.model.effects.interaction import NEAR_BOUNDARY, Interaction, factor
from fullspan.people.report.caveats import listed
from fullspan.people.report.content import BEST, THIS, Content
from fullspan.people.report.parts import sentence
from fullspan.query.margins import RARE, Cell, WorstCells, cell_words

_SIZES = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_NAMED_VARIABLES = 6
"""Variables without interactions that are named."""
_SIGNIFICANT = 0.05
_SAME = 1e-9
"""Nats below which a model is the baseline itself."""
_TINY_RESIDUAL = 0.05
"""Residual below which a count is what is expected."""
_CLEAR_ERRORS = 2.0
"""Standard errors from which a difference is called one."""


def found(c: Content) -> Iterator[str]:
    """What the model joins, and the strongest of it."""
    fitted, listed_rows, n = c.estimator.fitted_, list(c.interactions), len(c.estimator.distribution_.visible)
    rows = [row for row in listed_rows if row.has_part]
    source = f"{fitted.total:,.10g} rows of {n:,} variables"
    called = c.estimator._links().called
    if not rows:
        given = fitted.status == "given" or not is_searched(fitted)
        yield (
            f"The model of {n:,} variables joins none of them: they are independent of each other."
            if given
            else f"In {source} no interaction was found: the variables are independent of each other in the model."
        )
        return
    if fitted.status == "given":
        yield f"The model was given and not learned from rows. It joins {n:,} variables by {count_words(rows, called)}."
    elif c.estimator._is_mixed:
        yield f"Learned from {source}, the model is a mixture of {len(fitted.model.shares)} graphs."
    elif called == "edge":
        yield f"Learned from {source}, the model joins them by the {count_words(rows, called)} of a tree."
    elif is_searched(fitted):
        yield f"In {source} the search found {count_words(rows, called)}."
    else:
        yield f"Learned from {source}, the model has {count_words(rows, called)}."
    yield from _alone(c, rows)
    best = rows[0]
    due = [row for row in listed_rows if row.variables in best.lacking]
    if due:
        yield f"The strongest: {effect_words(due[0])}; this is due to an interaction of {joined(best.variables)}."
    elif best.effects:
        yield f"The strongest: {effect_words(best)}."
    elif math.isfinite(best.nats_saved):
        what = "The pair that shares most" if c.estimator._is_mixed else "The strongest joins"
        yield f"{what}{':' if c.estimator._is_mixed else ''} {joined(best.variables)}."


def count_words(rows: Sequence[Interaction], called: str) -> str:
    """``12 interactions: 10 of two variables and 2 of three, 3 of which are weak``."""
    orders = Counter(row.order for row in rows)
    each = [f"{k:,} of {_SIZES.get(order, order)}" for order, k in sorted(orders.items())]
    words = f"{len(rows):,} {called}{'' if len(rows) == 1 else 's'}"
    if len(orders) == 1 and called == "interaction":
        words += f" of {_SIZES.get(rows[0].order, rows[0].order)} variables"
    elif len(orders) > 1:
        words += f" ({joined([f'{each[0]} variables', *each[1:]])})"
    weak = sum(row.is_weak for row in rows)
    return words + (f", {weak:,} of them too weak to tell from none" if weak else "")


def _alone(c: Content, rows: Sequence[Interaction]) -> Iterator[str]:
    """The variables in none of the interactions, of a model whose list is complete."""
    names = c.estimator.distribution_.visible.names
    inside = {name for row in rows for name in row.variables}
    alone = [] if c.estimator._is_mixed else [name for name in names if name not in inside]
    if alone:
        yield f"In none of them: {listed(alone, _NAMED_VARIABLES)}."


def joined(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def effect_words(row: Interaction) -> str:
    """The first effect of an interaction as a clause, with its 95 % interval where there is one."""
    effect, interval = row.effects[0], interval_text(row)
    size = factor(effect.log_ratio)
    within = f" (95 % interval {interval})" if interval else ""
    if not (math.isfinite(effect.log_ratio) and abs(effect.log_ratio) <= NEAR_BOUNDARY) or size == "×1":
        return f"{' with '.join(effect.events)}: {'odds ' if row.kind == 'odds ratio' else ''}{size}{within}"
    if row.kind == "cell ratio":
        less = "the variables alone" if row.order == 2 else "smaller sets of variables"
        times = f"{size[1:]} times as frequent as" if effect.log_ratio > 0 else f"{size[1:]} times rarer than"
        return f"the combination {' with '.join(effect.events)} is {times} {less} make it{within}"
    first, second = effect.events
    average = "on average " if not math.isnan(row.smallest) else ""
    sides = ("with", "without it") if effect.log_ratio > 0 else ("without", "with it")
    if effect.log_ratio < 0 and interval:  # the inverse of the odds ratio, and so of its interval
        within = f" (95 % interval {interval_text(inverse(row))})"
    return (
        f"with all else held fixed, the odds of {first} are {average}{size[1:]} times as high {sides[0]} {second} as "
        f"{sides[1]}{within}"
    )


def inverse(row: Interaction) -> Interaction:
    """The inverse of an odds ratio: what it is without the second event."""
    first = row.effects[0]
    return replace(row, effects=(replace(first, log_ratio=-first.log_ratio), *row.effects[1:]))


# -- how well it predicts -----------------------------------------------------------------------------------------


def predicts(c: Content) -> Iterator[str]:
    """How probable rows are next to baselines, and how much better cells are predicted than by base rates."""
    if c.comparison is None:
        yield from without_held_out(c)
        return
    this = next(row for row in c.comparison if row.name == THIS)
    rows = f"{c.comparison.n_rows:,.6g} {'held-out rows' if this.rows_are == 'held-out' else 'rows'}"
    which = {
        "training": ", from which it was learned",
        "repeated training": f", which equal those it was learned from but occur {this.repeats:.2g} times as often",
        "partly training": f", about {this.training_share:.0%} of which it was learned from",
        "not known": ", some of which it may have been learned from",
    }.get(this.rows_are, "")
    if this.n_impossible:
        yield f"Of {rows}{which}, the model holds {this.n_impossible:,} impossible: their probability under it is 0."
        return
    parts = [
        words
        for name, called in (("independent", "independent columns"), ("Chow–Liu tree", "the best tree"), (BEST, BEST))
        if (words := against(c.comparison, name, called)) is not None
    ]
    if parts:
        yield f"Over {rows}{which}, a row is on average {' and '.join(parts)}."
    if (advice := to_predict(c.comparison)) is not None:
        yield advice
    skill = c.comparison.calibrations[THIS].skill
    if not math.isnan(skill):
        yield (
            f"Predicting a cell from the rest of its row, it removes {skill:.0%} of the squared error that the base "
            "rates of the columns leave."
            if skill > 0
            else "Predicting a cell from the rest of its row, it does no better than the base rates of the columns."
        )


def to_predict(found: Comparison) -> str | None:
    """How to get the best predictor, where it was learned and is clearly ahead."""
    from fullspan.estimators.jobs.checking import AVERAGE

    if BEST not in {row.name for row in found}:
        return None
    gain, error = found.difference(BEST, THIS)
    if not gain > _CLEAR_ERRORS * error:
        return "It predicts as well as the best predictor: no more than chance apart."
    return f"To predict rather than to read, fullspan fit --average {AVERAGE} learns the best predictor."


def against(found: Comparison, name: str, called: str) -> str | None:
    """This model next to a baseline: ``33 times as probable as under independent columns (3.49 ± 0.32 nats)``."""
    if name not in {row.name for row in found} or not found.calibrations:
        return None
    gain, error = found.difference(THIS, name)
    if not math.isfinite(gain) or abs(gain) < _SAME:
        return None
    size = f"{_with_error(gain, error)} nats per row"
    if not abs(gain) > _CLEAR_ERRORS * error:
        return f"about as probable as under {called} ({size})"
    if abs(gain) < math.log(1.995):
        share = abs(math.expm1(gain))
        percent = f"{share:.0%}" if share > 0.1 else f"{share:.1%}"
        return f"{percent} {'more' if gain > 0 else 'less'} probable than under {called} ({size})"
    times = f"{_large(abs(gain))} times {'as' if gain > 0 else 'less'} probable {'as' if gain > 0 else 'than'}"
    return f"{times} under {called} ({size})"


def _with_error(value: float, error: float) -> str:
    """``+3.49 ± 0.32``: two digits of the error, and as many decimals of the value."""
    if not 0 < error < math.inf:
        return f"{value:+.3g}"
    digits = max(1 - math.floor(math.log10(error)), 0)
    return f"{value:+.{digits}f} ± {error:.{digits}f}"


def _large(log_ratio: float) -> str:
    """``2.7``, ``160``, ``25,000``, ``10^9``."""
    if log_ratio >= math.log(1e6):
        return f"10^{round(log_ratio / math.log(10))}"
    ratio = float(f"{math.exp(log_ratio):.2g}")
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:g}"


def without_held_out(c: Content) -> Iterator[str]:
    """What is known of the fit where no rows were held out."""
    yield f"No rows were held out: {c.why_not_held_out}."
    yield from known_fit(c.estimator)


def known_fit(estimator: Any) -> Iterator[str]:
    """Likelihoods that are kept with the model: of rows it did not see while learning, and of those it learned from."""
    fitted = estimator.fitted_
    if fitted.status == "given":
        return
    unseen = getattr(estimator, "oob_score_", None)
    if isinstance(unseen, float) and math.isfinite(unseen):
        error = estimator.oob_error_
        yield f"Rows that a member of the average had not seen have {unseen:.4f} ± {error:.2g} nats each under it."
    validation = getattr(fitted, "validation", math.nan)
    if isinstance(validation, float) and math.isfinite(validation):
        yield f"Rows that the fit itself held out, to choose its size, have {validation:.4f} nats each."
    if math.isfinite(mean_log_likelihood(fitted)):
        yield f"In the rows learned from: {likelihood_line(fitted)}."


# -- what it leaves out -------------------------------------------------------------------------------------------


def leaves_out(c: Content) -> Iterator[str]:
    """Where the rows differ from the model, as far as that was looked at, and what no model of this kind says."""
    worst, rejected = c.worst, _rejected(c.estimator)
    if rejected:
        yield rejected
    if worst is not None and worst.n_cells:
        yield _worst_words(worst, by_chance=not rejected)
    elif approach(c.estimator.fitted_) is not None:
        yield f"{sentence(misfit_words(c.estimator.fitted_.settings.get('misfit')))}."
    yield "It takes rows as independent draws, and says what goes together, not what causes what."


def _rejected(estimator: Any) -> str:
    """That a likelihood ratio test rejects terms that were given; empty if it does not, or there is none."""
    found = getattr(estimator, "goodness_", None)
    if found is None or found.df < 1 or not found.p_value < _SIGNIFICANT:
        return ""
    if is_searched(estimator.fitted_) or is_singular(estimator.fitted_):
        return ""
    p = f"p = {found.p_value:.2g}" if found.p_value >= 1e-6 else "p < 0.000001"
    freedom = f"{found.df:,} degree{'' if found.df == 1 else 's'} of freedom"
    return f"A likelihood ratio test against all interactions rejects it (G² = {found.g2:.1f}, {freedom}, {p})."


def _worst_words(worst: WorstCells, by_chance: bool) -> str:
    """The cell that fits worst, and, ``by_chance`` if nothing else says it, whether that may be chance."""
    order = f"up to {worst.largest_order} variables" if worst.largest_order > 1 else "one variable"
    first = worst.cells[0] if worst.cells else None
    if first is None or abs(first.residual) < _TINY_RESIDUAL:
        return f"It has the counts of the rows in all {worst.n_cells:,} cells of margins of {order}."
    if not by_chance:
        return f"Farthest from the rows: {_count_words(first)}."
    if worst.least is None or worst.by_chance() > RARE:
        return f"No margin of {order} is farther from the rows than chance explains; farthest: {_count_words(first)}."
    return f"It misses more than chance explains: {_count_words(worst.least)}."


def _count_words(cell: Cell) -> str:
    return f"{cell.observed:g} rows have {cell_words(cell)}, where it expects {cell.expected:.1f}"
