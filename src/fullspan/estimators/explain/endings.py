"""How a fit ended, as a sentence, and what to do about it: the one table of all statuses.

A status is the word that a model file keeps. Parameters are named as in Python; the command line has the same names
with dashes, such as ``--max-iter``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fullspan.errors import BoundaryWarning, ConvergenceWarning, warn
from fullspan.learn.likelihood.solvers import BY_CHAINS
from fullspan.learn.private.accountant import Privacy
from fullspan.model.effects.words import label

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted

CONVERGED, GIVEN, PRIVATE, INTERRUPTED, DIVERGED = "converged", "given", "private", "interrupted", "diverged"


class Ending(NamedTuple):
    """What happened, and the remedy; empty if none is needed."""

    sentence: str
    remedy: str = ""


ENDINGS = {
    CONVERGED: Ending("the fit converged"),
    GIVEN: Ending("the model was given, not learned from rows"),
    PRIVATE: Ending("learned from noisy counts alone"),
    INTERRUPTED: Ending("the fit was interrupted; the model is the best found so far", "fit again and let it finish"),
    DIVERGED: Ending(
        "the weights diverged; the last weights that described the rows no worse than the start are kept",
        "use a tenth of the learning_rate",
    ),
    "term limit": Ending(
        "the search stopped at the limit of {terms:,} terms; more terms could shorten the description further",
        "use a larger penalty, such as penalty=2.0, a lower max_order, or fewer columns",
    ),
    "round limit": Ending(
        "the search stopped after the rounds it was allowed; more terms could shorten the description further",
        "fit the rows by themselves, with average=1",
    ),
    "step limit": Ending(
        "the search stopped after the steps it was allowed; more steps could shorten the description further",
        "use a larger epsilon, or fewer columns",
    ),
    "time limit": Ending(
        "no further run was begun after max_seconds; the model combines the {runs} finished",
        "use a higher max_seconds, or None for all runs",
    ),
    "iteration limit": Ending(
        "the solver stopped at its limit of iterations before the weights settled{off}",
        "use a higher max_iter, a larger tol, or a small l2",
    ),
    "epoch limit": Ending(
        "learning stopped after the epochs it was allowed; nothing says that the likelihood had ceased to rise",
        "use more epochs, and early_stopping to end where held-out rows no longer gain",
    ),
    "rounding limit": Ending(
        "the solver stopped where rounding hides any further progress{off}",
        "use a larger tol; if the difference is small, take this model as it is",
    ),
    "max_iter": Ending(
        "em stopped at its limit of iterations while the likelihood still improved",
        "use a higher max_iter, or a larger tol",
    ),
}
"""Sentences by status; ``{terms}`` is the limit of the search, ``{runs}`` how many finished, ``{off}`` what is left."""


def ending(fitted: Any) -> Ending:
    """How a fit ended, with its own numbers; a status of another version is shown as it is."""
    found = ENDINGS.get(fitted.status)
    changed = fitted.settings.get("margins_changed")
    if fitted.status == GIVEN and isinstance(changed, list):
        names = ", ".join(f"({', '.join(map(str, own))})" for own in changed)
        return Ending(f"a learned model projected on the margins {names}: their shares changed, everything else kept")
    if fitted.status == "time limit" and "shares" in fitted.settings:
        found = Ending(
            "the time ended before every candidate was learned to its end; what was learned by then is stacked",
            "use a higher max_seconds, or None for no limit",
        )
    if fitted.status == PRIVATE and isinstance(fitted.settings.get("private"), dict):
        return Ending(f"{ENDINGS[PRIVATE].sentence}, {Privacy(**fitted.settings['private']).promise}")
    if found is None:  # its text comes from the file, and is no template
        return Ending(f"the fit ended with the status {fitted.status!r}")
    if fitted.status == DIVERGED:
        return _diverged(fitted, found)
    sampled = fitted.status == "iteration limit" and fitted.settings.get("solver") in BY_CHAINS
    remedy = "use a higher max_iter, more chains, or a smaller learning_rate" if sampled else found.remedy
    return Ending(found.sentence.format(terms=_term_limit(fitted.status), runs=_runs(fitted), off=_off(fitted)), remedy)


def ending_words(fitted: Any) -> str:
    """The status, the sentence and the remedy, on one line."""
    found = ending(fitted)
    return f"{fitted.status}: {found.sentence}" + (f". Remedy: {found.remedy}" if found.remedy else "")


def ended_early(status: str) -> bool:
    """Whether a person should know how the fit ended."""
    return status not in (CONVERGED, GIVEN, PRIVATE)


def _diverged(fitted: Any, found: Ending) -> Ending:
    rate = fitted.settings.get("learning_rate")
    if not isinstance(rate, int | float):
        return found
    return Ending(f"the learning rate {rate:g} is too large: {found.sentence}", f"use learning_rate={rate / 10:.2g}")


def _term_limit(status: str) -> int:
    if status != "term limit":
        return 0
    from fullspan.learn.search.options import MAX_TERMS

    return MAX_TERMS


def _runs(fitted: Any) -> str:
    n = fitted.settings.get("n_runs")
    return f"{n} run{'s' * (n != 1)}" if isinstance(n, int) else "runs"


def _off(fitted: Any) -> str:
    violation = fitted.settings.get("violation")
    return f"; an expectation differs from the data's by {violation:.2g}" if isinstance(violation, int | float) else ""


_NAMED_TERMS = 6
"""Terms that the warning names."""


def diverging_terms(fitted: Fitted) -> tuple[str, ...]:
    """The terms whose weights have no finite maximum, as ``a=y:b=n``."""
    model = fitted.model
    return tuple(label(model.space, model.basis, model.terms[k]) for k in fitted.diverging)


def warn_at_boundary(fitted: Fitted) -> None:
    """Warn if the maximum lies at infinity."""
    names = diverging_terms(fitted)
    if not names:
        return
    more = f" and {len(names) - _NAMED_TERMS} more" if len(names) > _NAMED_TERMS else ""
    text = (
        f"the maximum of the likelihood lies at infinity: the weights of {', '.join(names[:_NAMED_TERMS])}{more} have "
        "no finite maximum. The fitted distribution is the limit, in which some states have probability 0; "
        "a penalty such as l2=1e-4 keeps all weights finite"
    )
    warn(text, BoundaryWarning)


SUSPECT_R_HAT = 1.05
"""R-hat from which a warning says that the chains have not mixed."""


def unmixed(r_hat: float) -> str | None:
    """What to say of chains that have not met."""
    if r_hat <= SUSPECT_R_HAT:
        return None
    return (
        f"the chains have not mixed (R-hat {r_hat:.2f}): errors are too small; take more draws, or fit a simpler model"
    )


def warn_unmixed(r_hat: float) -> None:
    """Warn of it."""
    message = unmixed(r_hat)
    if message is not None:
        warn(message, ConvergenceWarning)
