"""A small record of the rows a model was learned from, by which they are recognised again, in whole or in part.

A row is hashed by the names of its columns and levels, so that the order of columns does not matter. The record keeps
the smallest hashes, at most :data:`MAX_HASHES`: whether any other row was among the rows is known as long as its hash
is below the largest kept, and those rows are a random part of all rows.

Rows of a fresh sample coincide with rows learned from by chance, the more often the fewer states there are. So only
rows seen at most once while learning are judged. With N1 rows of a state seen once, and N2 states seen twice, fresh
rows of the same distribution fall on states seen once and on states never seen in the ratio 2 N2 : N1 (Good and
Turing); rows learned from never fall on the latter. For a share s of rows learned from

    seen once / never seen  =  s / (1 - s) + 2 N2 / N1

A share is claimed if the fresh ratio is more than :data:`SURE` standard errors away. That no row was learned from is
claimed only if the ratio is at most :data:`DOUBT` standard errors above chance, and with power: if half of the rows had
been learned from, at least :data:`HITS` of them would be expected on states seen once, and their ratio would be more
than :data:`SURE` standard errors above chance. Otherwise the share is not known. Where nearly every state was seen
several times, N1 is small, and only the whole table is recognised.

A share counts rows that equal rows learned from, however often they occur: a table of which only the distinct rows were
learned has the share 1. So it is said too how often rows occur that were learned from once.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullspan.data.empirical import Empirical

MAX_HASHES = 2048
"""Hashes kept: 16 kB of a file."""
SURE = 5.0
"""Standard errors from chance at which rows are called rows learned from."""
DOUBT = 3.0
"""Standard errors above chance from which on rows are not called held-out."""
HITS = 10.0
"""Expected rows on states seen once, if half of the rows were learned from, below which nothing can be said."""
FEW, ALIKE, INCOMPLETE = "there are too few of them", "the same rows occur often", "too many of them are incomplete"
UNCLEAR = "more of them occur among the training rows than chance explains, but not clearly more"
"""Why it cannot be judged whether rows were learned from."""
_HASH_BYTES = 6
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Judgement(NamedTuple):
    """How far the rows of a table are rows that a model was learned from.

    Attributes
    ----------
    share : of the rows that equal rows learned from; NaN if it cannot be judged.
    unjudged : why it cannot, in words.
    repeats : how often rows occur for each time that they were learned from; at most 1 where none is repeated.
    is_whole : whether it is the table itself: all rows, with the counts they were learned with.
    """

    share: float
    unjudged: str = ""
    repeats: float = 1.0
    is_whole: bool = False


@dataclass(frozen=True, eq=False)
class RowSketch:
    """What is kept of the rows.

    Attributes
    ----------
    digest : of all rows and their counts, in whatever order of columns and levels.
    hashes : the smallest hashes of distinct rows, sorted; the last bit says whether the row was seen once.
    n_distinct : distinct rows, of which ``hashes`` may be a part.
    n_once, n_twice : distinct rows seen once, and twice; 0 where rows have weights that are no whole numbers.
    is_complete : whether no cell was missing.
    """

    digest: str
    hashes: NDArray[np.uint64]
    n_distinct: int
    n_once: int
    n_twice: int
    is_complete: bool

    @classmethod
    def of(cls, data: Empirical) -> RowSketch:
        """The record of counted rows.

        Examples
        --------
        >>> data = Empirical.from_codes([[0, 1], [1, 1], [1, 1]])
        >>> sketch = RowSketch.of(data)
        >>> sketch.n_distinct, sketch.n_once, sketch.share(data)
        (2, 1, 1.0)
        """
        hashes, counts = row_hashes(data), data.counts
        whole = bool((counts == np.floor(counts)).all())
        once = (counts == 1) & whole
        # The lowest bit of a hash is given up for it: 47 bits still tell millions of rows apart.
        marked = hashes & ~np.uint64(1) | once.astype(np.uint64)
        n_twice = int((counts == 2).sum()) if whole else 0
        # The smallest hashes are a random sample of the distinct rows, the same one whenever the table is read.
        kept = np.sort(marked)[:MAX_HASHES]
        return cls(_digest(hashes, counts), kept, len(hashes), int(once.sum()), n_twice, data.is_complete)

    def share(self, data: Empirical) -> float:
        """Share of the rows of a table that are rows learned from: 1 for the same table, NaN if it cannot be judged.

        Rows with missing cells were not learned from if there were none while learning.
        """
        return self.judge(data).share

    def judge(self, data: Empirical, learned: float = math.inf) -> Judgement:
        """The share, and why it is not known if it is NaN: :data:`FEW`, :data:`ALIKE`, ...

        ``learned`` is the number of rows learned from, if known: no more can be found again without being repeated.
        """
        hashes, counts = row_hashes(data), data.counts
        if _digest(hashes, counts) == self.digest:
            return Judgement(1.0, is_whole=True)
        if not self.n_once:
            return Judgement(math.nan, ALIKE)
        # An incomplete row cannot be one of those learned from, if these were all complete.
        complete = ~(data.states < 0).any(axis=1) if self.is_complete else np.ones(len(counts), dtype=bool)
        judged = self._judged(hashes) & complete
        known = self.hashes & ~np.uint64(1)
        hashes, weights = hashes[judged] & ~np.uint64(1), counts[judged]
        place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        seen = known[place] == hashes
        once = seen & ((self.hashes[place] & np.uint64(1)) == 1)
        share, is_unclear = self._share(weights[once], weights[~seen])
        share_complete = float(counts[complete].sum()) / float(counts.sum())
        if not math.isnan(share):
            share *= share_complete
            # Among fresh rows some equal rows learned from once by chance, again and again.
            found = float(weights[once].mean()) if seen.all() and once.any() else 0.0
            return Judgement(share, repeats=max(found, share * data.total / learned))
        if is_unclear:
            return Judgement(share, UNCLEAR)
        if share_complete < 0.5:
            return Judgement(share, INCOMPLETE)
        often = float(weights[seen & ~once].sum()) > float(weights.sum()) / 2 or not self._has_power(math.inf)
        return Judgement(share, ALIKE if often else FEW)

    def _judged(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Rows of which the record says whether they were learned from."""
        if self.n_distinct <= len(self.hashes):
            return np.ones(len(hashes), dtype=bool)
        # Beyond the largest hash kept the record says nothing, neither that a row is known nor that it is not.
        return np.asarray((hashes & ~np.uint64(1)) <= (self.hashes[-1] & ~np.uint64(1)))

    def _share(self, once: NDArray[np.float64], never: NDArray[np.float64]) -> tuple[float, bool]:
        """From the weights of rows on states seen once, and on states never seen; whether it is NaN for doubt."""
        total = float(once.sum() + never.sum())
        if total == 0:
            return math.nan, False
        squares = float(once @ once + never @ never)
        # Kish's effective number: a row of weight 10 is one row as far as chance goes.
        effective = total * total / squares
        chance, error = self._chance(effective)
        found = float(once.sum()) / total
        if found - chance <= SURE * error:
            is_unclear = self._has_power(effective) and found - chance > DOUBT * error
            return (math.nan if is_unclear or not self._has_power(effective) else 0.0), is_unclear
        if not never.size:
            return 1.0, False
        odds = float(once.sum() / never.sum()) - 2 * self.n_twice / self.n_once
        return max(odds, 0.0) / (1.0 + max(odds, 0.0)), False

    def _chance(self, effective: float) -> tuple[float, float]:
        """Share of states seen once among fresh rows on states seen at most once, and the standard error of it."""
        one, two = self.n_once + 1, self.n_twice + 1  # so that a ratio of 0 has an error too
        chance = 2 * two / (2 * two + one)
        spread = 4 * one * two * (one + two) / (2 * two + one) ** 4  # of the chance, if n_once and n_twice are Poisson
        return chance, math.sqrt(chance * (1 - chance) / effective + spread)

    def _has_power(self, effective: float) -> bool:
        """Whether it would be noticed if half of the rows had been learned from."""
        chance, error = self._chance(effective)
        half = 1 / (2 - chance)  # s = 1/2 in the formula of the module, as a share of once + never
        return half * effective >= HITS and half - chance > SURE * error

    # -- files ------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Plain types; six bytes of each hash are kept, in base64."""
        # Big-endian whatever the machine, so that files are the same everywhere.
        raw = self.hashes.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - _HASH_BYTES :]
        text = base64.b64encode(raw.tobytes()).decode("ascii")
        return {**{name: getattr(self, name) for name in _PLAIN}, "hashes": text}

    @classmethod
    def from_json(cls, record: Any) -> RowSketch | None:
        """The record in a file; None if there is none, or it is not sound."""
        if not isinstance(record, Mapping):
            return None
        try:
            raw = np.frombuffer(base64.b64decode(record["hashes"], validate=True), dtype=np.uint8)
            wide = np.zeros((len(raw) // _HASH_BYTES, 8), dtype=np.uint8)
            wide[:, 8 - _HASH_BYTES :] = raw.reshape(-1, _HASH_BYTES)
            hashes = wide.view(">u8").astype(np.uint64).ravel()
            distinct, once, twice = (int(record[name]) for name in ("n_distinct", "n_once", "n_twice"))
            found = cls(str(record["digest"]), np.sort(hashes), distinct, once, twice, bool(record["is_complete"]))
        except (KeyError, TypeError, ValueError, binascii.Error):
            return None
        return found if len(hashes) and min(found.n_once, found.n_twice) >= 0 else None


_PLAIN = ("digest", "n_distinct", "n_once", "n_twice", "is_complete")


def row_hashes(data: Empirical) -> NDArray[np.uint64]:
    """(m,) 48-bit hashes of the distinct rows, by names of columns and levels."""
    hashes = np.zeros(len(data.states), dtype=np.uint64)
    for j, variable in enumerate(data.space.variables):
        words = [_word(variable.name, str(level)) for level in variable.levels]
        codes = np.asarray(data.states[:, j], dtype=np.int64)
        # A sum does not depend on the order of the columns; the mixing below makes it a hash again.
        hashes += np.array([*words, _word(variable.name, None)], dtype=np.uint64)[codes]  # -1 is the last
    # The finaliser of SplitMix64.
    for shift, factor in zip((30, 27), _MULTIPLIERS, strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    return (hashes ^ (hashes >> np.uint64(31))) >> np.uint64(64 - 8 * _HASH_BYTES)


def _word(name: str, level: str | None) -> int:
    text = repr((name, level)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def _digest(hashes: NDArray[np.uint64], counts: NDArray[np.float64]) -> str:
    order = np.argsort(hashes, kind="stable")
    digest = hashlib.sha256(hashes[order].astype("<u8").tobytes())
    digest.update(counts[order].astype("<f8").tobytes())
    return digest.hexdigest()
