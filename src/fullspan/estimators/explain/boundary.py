"""A maximum at infinity in words: which weights diverge, what is kept, and how to get finite ones."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from fullspan.errors import BoundaryWarning
from fullspan.model.effects.words import label

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted

_NAMED = 6
"""Terms that the warning names."""


def diverging_terms(fitted: Fitted) -> tuple[str, ...]:
    """The terms whose weights have no finite maximum, as ``a=y:b=n``."""
    model = fitted.model
    return tuple(label(model.space, model.basis, model.terms[k]) for k in fitted.diverging)


def warn_at_boundary(fitted: Fitted, stacklevel: int) -> None:
    """Warn, on behalf of the caller ``stacklevel`` levels up, if the maximum lies at infinity."""
    names = diverging_terms(fitted)
    if not names:
        return
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    text = (
        f"the maximum of the likelihood lies at infinity: the weights of {', '.join(names[:_NAMED])}{more} have no "
        "finite maximum. The fitted distribution is the limit, in which some states have probability 0; "
        "a penalty such as l2=1e-4 keeps all weights finite"
    )
    warnings.warn(text, BoundaryWarning, stacklevel=stacklevel + 1)
