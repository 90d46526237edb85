"""What a term costs to describe, in nats per row of data.

The description length of data and model is (paper, eqs. 2.4 and 2.5)

    N (KL(p_d || p) + sum_{y in B} r_y),    r_y = (1/N) (ln(N)/2 + sum_{i in y} ln(n (|X_i| - 1))).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence

import numpy as np

from fullspan.engine.protocol import Prices
from fullspan.errors import FullspanError

PENALTIES = ("mdl", "combinatorial", "bic")


def prices(cards: Sequence[int], total: float, penalty: str | float = "mdl", max_order: int | None = None) -> Prices:
    """Prices of all terms over variables with ``cards`` levels, for ``total`` rows.

    Parameters
    ----------
    penalty :
        ``"mdl"``, the paper's: ln(N)/2 for the weight, ln n + ln(\\|X_i\\| - 1) for every variable named;
        ``"combinatorial"``: ln(N)/2, then ln n for the order and ln C(n, order) for which variables, which is cheaper
        for high orders; ``"bic"``: ln(N)/2 alone; a number: that many times ``"mdl"``.
    max_order : terms of more variables than this are not for sale.
    """
    n = len(cards)
    orders = np.arange(n + 1)
    weight = 0.5 * math.log(max(total, 1.0))
    by_variable = np.array([math.log(card - 1) if card > 1 else 0.0 for card in cards])
    factor = 1.0
    if isinstance(penalty, numbers.Real) and not isinstance(penalty, bool):
        if not (math.isfinite(penalty) and penalty >= 0):
            raise FullspanError(f"penalty is {penalty}; a factor must be a finite number of at least 0")
        factor, penalty = float(penalty), "mdl"
    if penalty == "mdl":
        by_order = weight + orders * math.log(max(n, 1))
    elif penalty == "combinatorial":
        by_order = weight + math.log(max(n, 1)) + np.array([math.log(math.comb(n, k)) for k in range(n + 1)])
    elif penalty == "bic":
        by_order, by_variable = np.full(n + 1, weight), np.zeros(n)
    else:
        raise FullspanError(f"penalty {penalty!r} is unknown; choose {', '.join(PENALTIES)} or a factor such as 2.0")
    by_order[0] = 0.0
    if max_order is not None:
        by_order[max_order + 1 :] = np.inf
    return Prices(
        np.asarray(factor * by_order / total, dtype=np.float64), factor * by_variable / total, factor * weight / total
    )
