"""Rows drawn under conditions: given what all of them meet, and without events that none may show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fullspan.errors import FullspanError, QueryError
from fullspan.estimators.inputs.evidence import Evidence, event_of

if TYPE_CHECKING:
    from fullspan.arrays import Ints
    from fullspan.query.distribution import Distribution

Forbid = str | Sequence[str]
"""Events that must not happen: ``"a=x, b=y"``, or several."""


def like_of(table: Any, source: Any) -> Any:
    """An Arrow table as a frame of the kind of ``source``."""
    module = type(source).__module__.split(".")[0]
    if module == "pandas":
        import pandas as pd

        frame = pd.DataFrame(table.to_pandas())
        labels = {str(label): label for label in source.columns}
        for name in frame.columns:
            own = source[labels[name]].dtype
            if frame[name].dtype != own and (not isinstance(own, np.dtype) or not frame[name].isna().any()):
                frame[name] = frame[name].astype(own)
        return frame.rename(columns=labels)
    if module == "polars":
        import polars as pl

        schema = source.collect_schema()
        found = pl.DataFrame(pl.from_arrow(table))
        return found.with_columns([pl.col(name).cast(schema[name]) for name in found.columns])
    if isinstance(source, np.ndarray):
        columns = [np.asarray(table.column(i)) for i in range(table.num_columns)]
        return np.stack(columns, axis=1).astype(source.dtype) if source.dtype != object else np.stack(columns, axis=1)
    return table


def listed(forbid: Forbid) -> list[str]:
    """Forbidden events as texts.

    Raises
    ------
    FullspanError : they are none.
    """
    events = [forbid] if isinstance(forbid, str) else list(forbid or ())
    for event in events:
        if not isinstance(event, str) or not event.strip():
            raise FullspanError(f"forbid lists {event!r}; an event is a text such as 'a=x, b=y'")
    return events


def texts_of(given: Evidence) -> list[str]:
    """A condition as a list of texts, in the language of questions."""
    if not given:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Mapping):
        raise FullspanError(f"given is {given!r}; a text such as 'a=x, b=y' or a dictionary is needed")
    return [f"{_quoted(name)} in {{{', '.join(map(_quoted, level))}}}" if isinstance(level, list | tuple | set) else
            f"{_quoted(name)}={_quoted(level)}" for name, level in given.items()]  # fmt: skip


def _quoted(value: Any) -> str:
    text = str(value)
    return text if text.replace("_", "").replace(".", "").isalnum() else '"' + text.replace('"', '\\"') + '"'


def conditioned(
    distribution: Distribution, n: int, rng: np.random.Generator, given: Evidence, forbid: Sequence[str]
) -> Ints:
    """Codes of rows given an event, none of which shows a forbidden one.

    Raises
    ------
    QueryError : an event cannot be read or is impossible, or nothing is left.
    FullspanError : the kind of model cannot exclude events exactly.
    """
    if forbid:
        distribution = _without(distribution, forbid)
    return distribution.sample(n, rng, event_of(given, distribution.visible))


def _without(distribution: Distribution, forbid: Sequence[str]) -> Distribution:
    """The distribution given that none of the events happens."""
    from fullspan.query.language.parse import parse_event
    from fullspan.query.projection import NEVER

    factors: dict[tuple[int, ...], Any] = {}
    for text in forbid:
        for box in parse_event(text, distribution.visible):
            scope = tuple(sorted(box))
            if not scope:
                raise QueryError(f"forbid={text!r} excludes every row")
            table = factors.setdefault(scope, np.zeros([distribution.space.cards[i] for i in scope]))
            table[np.ix_(*(box[i] for i in scope))] = NEVER
    if distribution.log_mean(factors) < NEVER / 2:
        raise QueryError(f"the forbidden events exclude every row of the model: {'; '.join(forbid)}")
    try:
        return distribution.renewed(factors)
    except QueryError:
        raise
    except FullspanError as error:
        raise FullspanError(
            "this kind of model cannot exclude events exactly; leave forbid= out, or use a FullSpan, "
            "a BoltzmannMachine, a tree or a FullSpanMixture"
        ) from error
