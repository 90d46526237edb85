"""The average of fits, stacked with other candidates, as a fitted model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullspan.data import Empirical
from fullspan.learn.base.counted import observed_entropy
from fullspan.learn.base.counted import smoothed_entropy as entropy_of
from fullspan.learn.ensemble.members import Member, Seen
from fullspan.learn.ensemble.stack import Stacked
from fullspan.model import Fitted
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.record import Step


def averaged(empirical: Empirical, members: Sequence[Member], seen: Seen, stacked: Stacked | None) -> Fitted:
    """The fitted average; its history has one step for each member."""
    fits, data = [m.fitted for m in members], empirical
    model, first = AveragedLogLinear.of([f.model for f in fits], stacked.models if stacked else ()), fits[0]
    mean, out_of_bag = (stacked.mean, stacked.out_of_bag) if stacked else (seen.mean, seen.rows.score())
    entropy = entropy_of(data.counts, data.space.n_states, 0.0) if data.is_complete else observed_entropy(data)
    shares = {"shares": stacked.shares} if stacked else {}
    return Fitted(
        model=model,
        standard_errors=model.spread,
        nats_saved=model.mean([f.nats_saved for f in fits]),
        **data.provenance(),
        divergence=-float(data.counts @ mean) / data.total - entropy,
        entropy=entropy,
        description_length=float("nan"),
        history=tuple(_steps(fits)),
        status=_status(fits),
        drift=max(f.drift for f in fits),
        settings={**first.settings, **_most(fits), "members": len(fits), **shares},
        n_hidden=first.n_hidden,
        out_of_bag=out_of_bag,
    )


def _steps(fits: list[Fitted]) -> Iterator[Step]:
    for b, f in enumerate(fits):
        last = f.history[-1] if f.history else None
        cost, seconds = (last.cost, last.seconds) if last else (f.divergence, 0.0)
        yield Step(f"fit {b + 1}", len(f.model.terms), cost, seconds)


def _most(fits: list[Fitted]) -> dict[str, float]:
    """How far a solver ended from its optimum, and after how many iterations, where the members have one: the most."""
    known = [key for key in ("violation", "iterations") if all(key in f.settings for f in fits)]
    return {key: max(f.settings[key] for f in fits) for key in known}


def _status(fits: list[Fitted]) -> str:
    """``"converged"`` if all members are, as far as their rounds went, or else how the first that is not has ended."""
    return next((f.status for f in fits if f.status not in ("converged", "round limit", "term limit")), "converged")
