"""The table of interactions, as people read it: one row per set of variables, strongest first, whatever the basis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, overload

from fullspan.display import html_table
from fullspan.errors import FullspanError
from fullspan.estimators.explain.terms import SHOWN_TERMS, aligned, folded, nats_text
from fullspan.model.effects.interaction import Interaction, bound, remark_notes, with_larger
from fullspan.pictures.legend import LIGHT, ROLES

NATS_SAVED, NATS_SHARED = "nats saved", "nats shared"
HEADINGS = ("interaction", "order", "95 % interval")
LEVEL = 0.95
WIDTH = 96
"""Characters of a printed line, so that it is read without scrolling in a terminal or on a page."""

POSTERIOR = (
    "interval: posterior, under the prior that the search fitted; the choice of the interactions is not accounted for."
)
EVIDENCE = "interval: posterior, under the prior that was fitted to the same rows."
CHOSEN = "interval: the choice of the interactions in the same rows is not accounted for."


class InteractionTable(Sequence[Interaction]):
    """Rows of :class:`fullspan.model.effects.interaction.Interaction`, most nats saved first; prints as a table.

    ``caution`` is a sentence about its intervals; ``measure`` names the nats, which pairs of mixtures and of hidden
    trees share and do not save.
    """

    def __init__(
        self,
        rows: Sequence[Interaction],
        is_average: bool | None = None,
        caution: str = "",
        measure: str = NATS_SAVED,
    ) -> None:
        # A slice has lost rows that may contain others: only the whole table looks for them.
        self._rows = with_larger(rows) if is_average is None else tuple(rows)
        self._is_average = any(row.chosen != 1.0 for row in rows) if is_average is None else is_average
        self._caution, self._measure = caution, measure

    @classmethod
    def of(cls, fitted: Any, rows: Sequence[Interaction] | None = None, measure: str = NATS_SAVED) -> InteractionTable:
        """The interactions of a fit, or other rows of it, and what its search means for their intervals."""
        found = getattr(fitted, "interactions", None) if rows is None else rows
        return cls(found or (), caution=interval_caution(fitted), measure=measure)

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the columns: the share of fits that chose it for averages, intervals and nats where there are some."""
        chosen = ("chosen",) if self._is_average else ()
        interval = HEADINGS[2:] if self._has_intervals else ()
        return (*HEADINGS[:2], *chosen, *interval, *((self._measure,) if self.has_nats else ()))

    @property
    def has_nats(self) -> bool:
        """Whether any nats are known; of a model that was given without rows none are."""
        return any(not math.isnan(row.nats_saved) for row in self)

    @property
    def _has_intervals(self) -> bool:
        return any(interval_text(row) for row in self)

    @property
    def caution(self) -> str:
        """What the intervals are, in a sentence; empty where they are those of maximum likelihood with given terms."""
        return self._caution

    @property
    def notes(self) -> list[str]:
        """What the remarks in brackets mean, and what the intervals leave out: a sentence for each kind."""
        return [*remark_notes(self), *([self._caution] if self._caution and self._has_intervals else [])]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Interaction]:
        return iter(self._rows)

    @overload
    def __getitem__(self, item: int) -> Interaction: ...
    @overload
    def __getitem__(self, item: slice) -> InteractionTable: ...
    def __getitem__(self, item: int | slice) -> Interaction | InteractionTable:
        return (
            InteractionTable(self._rows[item], self._is_average, self._caution, self._measure)
            if isinstance(item, slice)
            else self._rows[item]
        )

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as text, column by column as ``headings`` names them."""
        shown = self.headings
        return [tuple(_texts(row)[name] for name in shown) for row in self]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Plain dictionaries, as JSON holds them."""
        return [as_dict(row) for row in self]

    def to_pandas(self) -> Any:
        """A pandas DataFrame with one row per interaction."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts(), columns=list(as_dict(_EMPTY)))

    def __repr__(self) -> str:
        shown = self[:SHOWN_TERMS]
        notes = [line for note in self._rest() for line in wrap(note, WIDTH, subsequent_indent="  ")]
        return "\n".join([*aligned(folded([shown.headings, *shown.cells()], WIDTH)), *notes])

    def _rest(self) -> list[str]:
        more = [f"... and {len(self) - SHOWN_TERMS} more"] if len(self) > SHOWN_TERMS else []
        return [*more, *self[:SHOWN_TERMS].notes]

    def _repr_html_(self) -> str:
        shown = self[:SHOWN_TERMS]
        top = max((row.nats_saved for row in self if row.nats_saved < math.inf), default=0.0) or 1.0
        bars = [max(row.nats_saved, 0.0) / top if row.nats_saved < math.inf else 0.0 for row in shown]
        colours = [LIGHT[ROLES[row.direction]] for row in shown]
        return html_table(shown.headings, shown.cells(), notes=self._rest(), bars=bars, colours=colours)


def is_searched(fitted: Any) -> bool:
    """Whether the terms were chosen by a search in the rows, so that p-values would be too small."""
    settings = fitted.settings
    mined = "min_support" in settings and not settings.get("patterns")
    return "search" in settings or _by_elimination(fitted) or mined or "max_width" in settings


def is_singular(fitted: Any) -> bool:
    """Whether terms have hidden variables: likelihood ratios and Wald statistics then have no chi-squared limit."""
    first = len(fitted.space) - getattr(fitted, "n_hidden", 0)
    return any(i >= first for term in getattr(fitted.model, "terms", ()) for i, _ in term)


def interval_caution(fitted: Any) -> str:
    """What the intervals are, in one sentence, where they are not those of maximum likelihood with given terms."""
    settings, shrunk = fitted.settings, shrunk_by(fitted.settings)
    if fitted.kind == "averaged":  # which has no intervals
        return ""
    if is_searched(fitted):
        has_prior = (settings.get("search") == "full" or _by_elimination(fitted)) and not settings.get("l1")
        return POSTERIOR if has_prior else CHOSEN + (f" Weights are shrunk by {shrunk}." if shrunk else "")
    if settings.get("shrinkage"):
        return EVIDENCE
    return f"interval: approximate, around weights that are shrunk by {shrunk}." if shrunk else ""


def shrunk_by(settings: Any) -> str:
    """Which penalties a fit had, ``l2=0.01``; empty without."""
    chosen = settings.get("chosen")
    if isinstance(chosen, Mapping) and isinstance(chosen.get("penalty"), int | float):
        return f"a ridge of {chosen['penalty']:.3g} rows" if chosen["penalty"] else ""
    strengths = {name: settings.get(name) for name in ("l1", "l2")}  # from a file they may be anything
    used = [f"{name}={value:g}" for name, value in strengths.items() if isinstance(value, int | float) and value]
    return " and ".join(used)


def _by_elimination(fitted: Any) -> bool:
    return bool(getattr(fitted, "by_elimination", False))


_EMPTY = Interaction((), math.nan, True, "cell ratio", ())


def _texts(row: Interaction) -> dict[str, str]:
    """The cells of a row by heading."""
    return {
        "interaction": row.remarked,
        "order": str(row.order),
        "chosen": f"{row.chosen:.0%}",
        "95 % interval": interval_text(row),
        **dict.fromkeys((NATS_SAVED, NATS_SHARED), nats_text(row.nats_saved, row.approximate)),
    }


def interval_text(row: Interaction, level: float = LEVEL) -> str:
    """The interval of the first effect, ``×10.9 to ×25``; empty where there is no standard error."""
    low, high = row.effects[0].log_interval(level) if row.effects else (math.nan, math.nan)
    return "" if math.isnan(low) else f"{bound(low)} to {bound(high)}"


def as_dict(row: Interaction, level: float = LEVEL) -> dict[str, Any]:
    """An interaction in plain types; ``ratio`` and its interval are those of the first effect."""
    first = row.effects[0] if row.effects else None
    low, high = first.interval(level) if first else (math.nan, math.nan)
    return {
        "variables": list(row.variables),
        "order": row.order,
        "nats_saved": row.nats_saved,
        "approximate": row.approximate,
        "words": row.words,
        "kind": row.kind,
        "events": list(first.events) if first else [],
        "ratio": first.ratio if first else math.nan,
        "low": low,
        "high": high,
        "smallest": row.smallest,
        "largest": row.largest,
        "direction": row.direction,
        "chosen": row.chosen,
        "within": [list(larger) for larger in row.within],
        "lacking": [list(pair) for pair in row.lacking],
        "weak": row.is_weak,
    }


class Intervals(Sequence[dict[str, Any]]):
    """What ``conf_int`` returns: a row per odds ratio or cell ratio, with its interval; prints as a table."""

    def __init__(self, rows: InteractionTable, level: float) -> None:
        if not 0 < level < 1:
            raise FullspanError(f"level is {level}; a level of confidence lies between 0 and 1, such as 0.95")
        self.level, self._caution = level, rows.caution
        self._rows = [
            {"events": list(e.events), "kind": row.kind, "ratio": e.ratio, "low": low, "high": high}
            for row in rows
            for e in row.effects
            for low, high in [e.interval(level)]
        ]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, item: Any) -> Any:
        return self._rows[item]

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self._rows, columns=["events", "kind", "ratio", "low", "high"])

    def __repr__(self) -> str:
        rows = [
            (", ".join(r["events"]), r["kind"], *(f"{r[name]:.4g}" for name in ("ratio", "low", "high"))) for r in self
        ]
        lines = aligned([("events", "kind", "ratio", f"low ({100 * self.level:g}%)", "high"), *rows])
        known = any(r["low"] == r["low"] for r in self)
        caution = self._caution if known else "no intervals: the standard errors of this model are not known."
        return "\n".join([*lines, *wrap(caution if self._rows else "", WIDTH, subsequent_indent="  ")])
