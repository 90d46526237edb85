"""Look-ups in a dual table that lives elsewhere: a few entries travel, and what they mean is worked out here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from fullspan.arrays import Array, Ints
from fullspan.engine.dual import lookup
from fullspan.model.algebra.basis import Basis


class GatheredLookUps(ABC):
    """The look-ups of the engine protocol, from ``eta_at`` and ``d_at`` alone."""

    basis: Basis

    @abstractmethod
    def eta_at(self, indices: Ints) -> Array:
        """Expectations of the model at indices of any shape."""

    @abstractmethod
    def d_at(self, indices: Ints) -> Array:
        """Expectations of the data at indices of any shape."""

    @property
    def _cards(self) -> Ints:
        return np.array(self.basis.cards, dtype=np.int64)

    @property
    def _strides(self) -> Ints:
        return np.array(self.basis.strides, dtype=np.int64)

    def digits(self, indices: Sequence[int] | Ints) -> Ints:
        """Digit rows (k, n) of term indices."""
        return np.asarray(np.asarray(indices, dtype=np.int64)[:, None] // self._strides % self._cards)

    def second_moments(self, left: Ints, right: Ints) -> Array:
        """``<Phi_y Phi_z>`` for indices ``left`` and ``right``: a few look-ups each."""
        places = lookup.single_places(self.basis, left, right)
        if places is not None:
            return self.eta_at(places)
        a, b = self.digits(left), self.digits(right)
        room = lookup.width(self.basis, a, b)
        places, signs = lookup.expand_products(a, b, self._strides, self.basis.kinds, room)
        return np.asarray((signs * self.eta_at(places)).sum(axis=2))

    def fisher(self, indices: Ints) -> Array:
        """Fisher information ``Cov(Phi_y, Phi_z)`` of the terms at these indices."""
        eta = self.eta_at(indices)
        return np.asarray(self.second_moments(indices, indices) - np.outer(eta, eta))

    def marginal(self, variables: Sequence[int]) -> Array:
        """p(x_A), flat with the first variable fastest."""
        return np.asarray(self._margins(np.array([variables], dtype=np.int64), self.eta_at)[0])

    def data_margins(self, sets: Ints) -> Array:
        """Margins p_d(x_A) of the data for each row of ``sets`` (m, |A|), padded with zeros to the longest."""
        return self._margins(sets, self.d_at)

    def margin_gains(self, sets: Ints, data: Array, least: Array) -> Array:
        """``KL(p_d(x_A) || p(x_A))`` for each row of ``sets`` (m, |A|), or 0 where that is surely below ``least``."""
        return np.asarray(lookup.divergences(data, self._margins(sets, self.eta_at), least))

    def _margins(self, sets: Ints, looked_up: Callable[[Ints], Array]) -> Array:
        room = int(self._cards[sets].prod(axis=1).max(initial=1))
        values = looked_up(lookup.margin_places(sets, self._cards, self._strides, room))
        lookup.invert_margins(values, sets, self._cards, self.basis.kinds)
        return values
