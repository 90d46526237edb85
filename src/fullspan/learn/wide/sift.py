"""Which of the terms that were grown are findings: the sifting of the search on the table, refitted exactly.

The information of all terms is exact (module ``terms``), so what the table's search does with its own (drop what does
not predict its one nat, fit a code to the weights of each order, drop what the code calls noise, shrink the others
towards it; module ``search.sift``) is done here too. The terms that stay are refitted under the prior that the code
implies, on an order of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullspan.learn.base.information import Cholesky
from fullspan.learn.search.sift import BELIEVED_PART, Quadratic, sift
from fullspan.learn.wide.reached import Reached, Weigher
from fullspan.learn.wide.refit import Gaussian
from fullspan.learn.wide.tariff import Tariff
from fullspan.learn.wide.width import Width
from fullspan.model.algebra.bits import is_small


@dataclass(frozen=True)
class Described:
    """A model with the nats it takes: data, names, and one per weight as far as the data decide about it."""

    reached: Reached
    width: Width
    names: float
    effective: float

    @property
    def length(self) -> float:
        """Nats of all of it."""
        return self.reached.nats + self.names + self.effective


def described(weigher: Weigher, tariff: Tariff, reached: Reached, width: Width) -> Described:
    """The description of a model; ``tr F (F + W)^-1`` weights under a prior of precision W."""
    w, left = reached.prior.precision, 0.0
    if len(w):
        fisher = weigher.information(reached.terms, reached.theta)
        left = float(Cholesky.of(fisher + np.diag(w)).inverse_diagonal() @ w)
    return Described(reached, width, tariff.of(reached.terms.terms), len(w) - left)


def sifted(weigher: Weigher, tariff: Tariff, grown: Described) -> Described:
    """The shortest of a few siftings, or the model itself if it is shorter."""
    reached, terms = grown.reached, grown.reached.terms
    if not len(reached.theta):
        return grown
    quadratic = Quadratic(weigher.information(terms, reached.theta), reached.theta, weigher.counts.total)
    orders = np.array([len(term) for term in terms.terms])
    for believed in (BELIEVED_PART, BELIEVED_PART / 4, 0.0):
        found = sift(quadratic, orders, believed, is_small(terms.space.n_states))
        kept = [terms.terms[k] for k in found.stay]
        width = Width.around(terms.space.cards, [[i for i, _ in term] for term in kept], grown.width)
        prior = Gaussian(found.mean, found.precision / weigher.counts.total)
        weights = dict(zip(kept, found.theta.tolist(), strict=True))
        offer = weigher.weighed(weigher.laid_out(kept, width), weights, prior)
        if (better := described(weigher, tariff, offer, width)).length <= grown.length:
            return better
    return grown
