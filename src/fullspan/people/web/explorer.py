"""Answers about one model in plain JSON types: what the API says, without HTTP, and what a notebook's widget says.

Every model and network is asked through its distribution, which is bounded in memory.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fullspan.arrays import Array
from fullspan.data import Empirical, decode
from fullspan.data.space import Space
from fullspan.errors import FullspanError, QueryError
from fullspan.estimators.explain.links import Links, links_of_network
from fullspan.estimators.explain.shares import shares_of
from fullspan.estimators.inputs.checks import check_exact_joint
from fullspan.estimators.networks import GraphModel, read_graph
from fullspan.estimators.registry import distribution_of, load
from fullspan.model.files.networks.formats import NETWORKS, suffix
from fullspan.people.web.neighbourhoods import Neighbourhoods
from fullspan.people.web.pasted import parse_row
from fullspan.people.web.plain import (
    SORTED,
    Format,
    Sort,
    as_file,
    distance,
    effect_row,
    finite,
    link_row,
    moves_of,
    numbers,
    plain,
    row_text,
    searched,
    shares_table,
)
from fullspan.people.web.table import Table
from fullspan.query.distribution import Distribution
from fullspan.query.language.parse import parse
from fullspan.query.language.result import Count, MostProbable
from fullspan.query.language.result import Table as AnswerTable
from fullspan.query.oddness import explain_rows
from fullspan.query.projection import marginals_with

MAX_ASKED, MAX_CELLS = 12, 4096
"""Variables that one question may leave open, and cells of its answer."""
MAX_MEMORY = 1 << 30
"""Bytes that the tables of one question may take."""
MAX_SAMPLES = 1000
MAX_SAMPLED_CELLS = 5_000_000
"""Cells of a file of drawn rows."""
N_DRAWS = 500
"""Rows drawn to compare a row with."""
NEAREST = 8
"""Other interactions of the same variables that are listed next to one."""
Given = Mapping[str, Any]
Order = Literal["table", "changed"]


class Explorer:
    """One model, opened.

    Parameters
    ----------
    source : a model file or network; or a fitted estimator or :class:`fullspan.GraphModel`.
    data : a table of its columns, to show next to the model.

    Raises
    ------
    ModelFileError : the file cannot be read.
    FullspanError : the model predicts some columns from others, or is one in layers.
    """

    def __init__(self, source: Any, data: Path | None = None) -> None:
        path = source if isinstance(source, Path) else None
        self.version = "" if path is None else version_of(path)
        opened = source if path is None else _opened(path)
        self.estimator: Any = None
        self.joined: Links
        self.distribution: Distribution
        if isinstance(opened, GraphModel):
            self.kind, self.joined = "network", links_of_network(opened.graph)
            self.distribution = opened.distribution_
        else:
            self.estimator = opened
            self.kind = type(opened).__name__
            check_exact_joint(opened, "this model" if path is None else str(path), "the explorer")
            self.joined = opened._links()
            self.distribution = distribution_of(opened.fitted_, MAX_MEMORY)
        self.prior = self.distribution.marginals().shares
        # Nodes of a hidden tree can be named in questions, but are not listed: each would only repeat its variable.
        self.space = Space(tuple(v for v in self.distribution.space.variables if v.name in self.prior))
        self.near = Neighbourhoods(self.space.names, self.joined.links)
        self.table = None if data is None or self.estimator is None else Table(data, self.estimator, self.space)
        self._no_table = ""

    def answer(self, method: str, arguments: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """What is wrong with a question, or None, and the answer of a method, with the version of the model."""
        try:
            found = getattr(self, method)(**arguments)
        except FullspanError as error:
            return str(error), {}
        except MemoryError:
            return "there is not enough memory for the answer; ask for less at once", {}
        return None, {**found, "version": self.version}

    # -- what it is -------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Its kind, size and version."""
        fitted = getattr(self.estimator, "fitted_", None)
        return {
            "kind": self.kind,
            "version": self.version,
            "n_variables": len(self.space),
            "log2_states": float(np.log2(np.array(self.space.cards, dtype=np.float64)).sum()),
            "n_terms": getattr(self.estimator, "n_terms_", 0),
            "n_interactions": sum(link.row.has_part for link in self.joined.links),
            "called": self.joined.called,
            "n_rows": round(getattr(fitted, "total", 0)),
            "status": getattr(fitted, "status", "given"),
            "data": "" if self.counts is None or self.table is None else self.table.words,
        }

    @cached_property
    def counts(self) -> Empirical | None:
        """The rows to show next to the model; None where there are none, or they have other columns."""
        try:
            return None if self.table is None else self.table.counts
        except FullspanError as error:
            self._no_table = f"{self.table.path.name} is not shown: {error}" if self.table else ""
            return None

    def _about_rows(self) -> str:
        """Which rows are shown, or why none are, in a sentence."""
        if self.estimator is None:
            return "A network comes without rows."
        if self.counts is None or self.table is None:
            return self._no_table or "A model file keeps no rows: fullspan serve --data FILE shows them next to it."
        learned = self.counts.fingerprint() == str(getattr(self.estimator.fitted_, "fingerprint", ""))
        return f"Data: {self.table.words}{', from which the model was learned' if learned else ''}."

    def variables(self, search: str = "", offset: int = 0, limit: int = 100) -> dict[str, Any]:
        """Variables whose names hold a text, those that begin with it first, with their levels and prior shares."""
        wanted = search.casefold()
        found = [v for v in self.space.variables if wanted in v.name.casefold()]
        if wanted:
            found.sort(key=lambda v: not v.name.casefold().startswith(wanted))
        return {"total": len(found), "variables": [self._about(v.name) for v in found[offset : offset + limit]]}

    def _about(self, name: str) -> dict[str, Any]:
        """A variable with its levels and their probabilities when nothing is known."""
        v = self.space.variables[self.space.position(name)]
        return {"name": v.name, "levels": list(v.levels), "ordered": v.ordered, "prior": numbers(self.prior[v.name])}

    def graph(self, focus: str | None = None, radius: int = 1, limit: int = 60) -> dict[str, Any]:
        """The interaction graph, or the part of it near a variable."""
        if focus is not None:
            self.space.position(focus)
        found = self.near.near(focus, radius, limit)
        nodes = [{**node, **self._about(node["name"])} for node in found["nodes"]]
        return {**found, "nodes": nodes, "measure": self.joined.measure}

    def interactions(
        self,
        offset: int = 0,
        limit: int = 50,
        search: str = "",
        variable: str | None = None,
        sort: Sort = "strength",
        descending: bool = True,
    ) -> dict[str, Any]:
        """What joins the variables: the effect in words, its 95 % interval, and the strength; strongest first.

        ``search`` keeps those in whose words or variables each of its words occurs, ``variable`` those of a variable.
        """
        links = self.joined.links
        if variable is not None:
            self.space.position(variable)
            links = tuple(link for link in links if variable in link.row.variables)
        if wanted := search.casefold().split():
            links = tuple(link for link in links if all(word in searched(link) for word in wanted))
        if (sort, descending) != ("strength", True):
            links = tuple(sorted(links, key=SORTED[sort], reverse=descending))
        shown = [link_row(link, self.joined.measure) for link in links[offset : offset + limit]]
        about = {"called": self.joined.called, "measure": self.joined.measure, "note": self.joined.note}
        strongest = max((link.strength for link in self.joined.links), default=0.0)
        return {"total": len(links), "strongest": strongest, **about, "interactions": shown}

    def effect(self, variables: list[str]) -> dict[str, Any]:
        """One interaction: its effects, the shares that show them, data next to the model, and who else is involved.

        Raises
        ------
        QueryError : a variable is unknown, nothing joins these, or their table has more than 4,096 cells.
        """
        cards = [self.space.variables[self.space.position(name)].card for name in variables]
        link = next((link for link in self.joined.links if set(link.row.variables) == set(variables)), None)
        if link is None:
            raise QueryError(f"no {self.joined.called} of this model joins just {', '.join(variables)}")
        if math.prod(cards) > MAX_CELLS:
            raise QueryError(f"the table of these variables has {math.prod(cards):,} cells; at most {MAX_CELLS:,} "
                             "are shown")  # fmt: skip
        return {
            "interaction": link_row(link, self.joined.measure),
            "measure": self.joined.measure,
            "effects": [effect_row(effect) for effect in link.row.effects],
            "shares": shares_table(shares_of(self.distribution, link.row, self.counts)),
            "about_rows": self._about_rows(),
            "others": [link_row(other, self.joined.measure) for other in self.near.sharing(variables, NEAREST)],
        }

    def terms(self, offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """The weights of the basis in words, strongest first; none of a model without terms."""
        table = getattr(self.estimator, "terms_", None)
        if table is None:
            return {"total": 0, "headings": [], "terms": []}
        shown = [{"chosen": 1.0, **plain(row)} for row in table[offset : offset + limit].to_dicts()]
        return {"total": len(table), "headings": list(table.headings), "terms": shown}

    # -- what it answers --------------------------------------------------------------------------------------

    def distributions(self, given: Given, variables: list[str]) -> dict[str, Any]:
        """``P(x_i | given)`` of some variables, and the log-probability of what is given."""
        for name in variables:
            self.space.position(name)
        log_prob, found = self._marginals(_event(given))
        return {"log_prob": finite(log_prob), "marginals": {name: numbers(found[name]) for name in variables}}

    def consequences(
        self, given: Given, search: str = "", offset: int = 0, limit: int = 100, order: Order = "table"
    ) -> dict[str, Any]:
        """Variables with their distributions given what is known, and how far each moved (total variation)."""
        log_prob, found = self._marginals(_event(given))
        names = [v["name"] for v in self.variables(search, 0, len(self.space))["variables"]]
        moved = {name: distance(found[name], self.prior[name]) for name in names}
        if order == "changed":
            names.sort(key=lambda name: -round(moved[name], 9))
        shown = [
            {**self._about(name), "now": numbers(found[name]), "moved": moved[name]}
            for name in names[offset : offset + limit]
        ]
        return {"log_prob": finite(log_prob), "total": len(names), "variables": shown}

    def _marginals(self, given: Given) -> tuple[float, dict[str, Array]]:
        """Log-probability of what is given, and the distribution of every variable given it."""
        found = self.distribution.marginals(given)
        return min(found.log_z - self.distribution.log_z.value, 0.0) if given else 0.0, found.shares

    def ask(self, text: str, given: Given) -> dict[str, Any]:
        """A question in words; what is given is known besides what the text says.

        Raises
        ------
        QueryError : it cannot be read, or its answer would be too large.
        """
        query = parse(text, self.distribution.space)
        named = {*query.variables, *query.others, *query.known}
        cells = math.prod(self.space.variables[i].card if i < len(self.space) else 1 for i in named)
        if len(named) > MAX_ASKED or cells > MAX_CELLS:
            raise QueryError(
                f"the answer would be a table of {cells:,} cells over {len(named)} variables; ask for at "
                "most "
                f"{MAX_CELLS:,} cells over {MAX_ASKED} variables"
            )
        answer = self.distribution.ask(text, _event(given))
        notes = list(self.distribution.bin_notes(text, _event(given)))
        reply: dict[str, Any] = {"probability": None, "nats": None, "variables": [], "rows": [], "notes": notes}
        if isinstance(answer, AnswerTable):
            rows = [{"levels": list(levels), "probability": p} for levels, p in answer]
            return {**reply, "variables": list(answer.names), "rows": rows}
        if isinstance(answer, Count):
            share = answer.expected / max(answer.n_rows, 1)
            return {**reply, "variables": ["rows"], "rows": [{"levels": [str(answer)], "probability": share}]}
        if isinstance(answer, MostProbable):
            row = {"levels": list(answer.levels.values()), "probability": answer.probability}
            return {**reply, "variables": list(answer.levels), "rows": [row]}
        return {**reply, ("probability" if query.kind == "probability" else "nats"): float(answer)}

    def what_if(self, target: str, given: Given, limit: int) -> dict[str, Any]:
        """How the target would move if one more variable were known: ``P(target | given, v = l)`` for every v and l.

        By Bayes' rule from ``P(v | given, target = t)``, one set of marginals for each level t of the target.
        """
        variable = self.space.variables[self.space.position(target)]
        known = {name: levels for name, levels in _event(given).items() if name != target}
        log_prob, found = np.full(variable.card, -np.inf), {}
        for k, level in enumerate(variable.levels):
            with contextlib.suppress(QueryError):  # a level that is impossible given what is known
                log_prob[k], found[k] = self._marginals({**known, target: level})
        if not found:
            raise QueryError("what is given has probability 0, and no question can be answered given it")
        now = np.exp(log_prob - log_prob.max())
        now /= now.sum()
        rows: list[dict[str, Any]] = []
        for v in self.space.variables:
            if v.name in known or v.name == target:
                continue
            joint = np.zeros((variable.card, v.card))
            for k, marginals in found.items():
                joint[k] = now[k] * marginals[v.name]
            rows.append({"variable": v.name, **moves_of(now, joint, v.levels)})
        rows.sort(key=lambda row: -float(row["moves"]))
        return {"target": target, "levels": list(variable.levels), "now": numbers(now), "rows": rows[:limit]}

    def margins(self, margins: Mapping[str, Sequence[float]], search: str = "", limit: int = 100) -> dict[str, Any]:
        """All variables once some have other shares and all else is kept (the I-projection), most moved first.

        Parameters
        ----------
        margins : a share for each level, in their order, by variable; each is divided by its sum.

        Raises
        ------
        QueryError, DataError : a variable is unknown, shares are not one for each level, or the model excludes them.
        TooLargeError : the variables have too many combinations of levels.
        """
        wanted: dict[tuple[int, ...], Array] = {
            (self.space.position(name),): self._margin(name, shares) for name, shares in margins.items()
        }
        after = marginals_with(self.distribution, wanted).shares if wanted else self.prior
        about = [v for v in self.variables(search, 0, len(self.space))["variables"] if v["name"] not in margins]
        rows = [
            {**v, "now": numbers(after[v["name"]]), "moved": distance(after[v["name"]], self.prior[v["name"]])}
            for v in about
        ]
        rows.sort(key=lambda row: -round(row["moved"], 9))
        changed = [{**self._about(name), "now": numbers(after[name]), "moved": distance(after[name], self.prior[name])}
                   for name in margins]  # fmt: skip
        return {"total": len(rows), "changed": changed, "variables": rows[:limit]}

    def _margin(self, name: str, shares: Sequence[float]) -> Array:
        variable = self.space.variables[self.space.position(name)]
        found = np.array(shares, dtype=np.float64)
        if len(found) != variable.card or not (np.isfinite(found).all() and (found >= 0).all() and found.sum() > 0):
            raise QueryError(
                f"{name!r} needs {variable.card} shares of at least 0, not all 0, one for each level: "
                f"{', '.join(map(str, variable.levels[:12]))}; given were {list(shares)[:12]}"
            )
        return np.asarray(found / found.sum())

    def row(self, text: str = "", number: int | None = None) -> dict[str, Any]:
        """One row, pasted, or picked from the table by its number: how odd it is, and each cell given the others.

        Raises
        ------
        QueryError : there is no such row, it cannot be read, or the model excludes it.
        """
        visible = self.distribution.visible
        if number is not None:
            if self.counts is None or self.table is None:
                raise QueryError(self._about_rows())
            codes = self.table.row(number)
        else:
            pasted = parse_row(text, visible)
            codes = np.full((1, len(visible)), -1, dtype=np.int64)
            for name, level in pasted.items():
                i = visible.position(name)
                codes[0, i] = visible.variables[i].code(level)
        found = explain_rows(self.distribution, codes, np.random.default_rng(0), N_DRAWS)[0]
        cells = zip(visible.variables, codes[0].tolist(), strict=True)
        rows = 0 if self.counts is None or self.table is None else len(self.table.codes)
        return {**found.to_dict(), "text": row_text(cells), "n_rows": rows}

    def compare(self, others: Mapping[str, Explorer], other: str, given: Given, limit: int = 100) -> dict[str, Any]:
        """The distributions of the variables that two models have in common, the most different first.

        Raises
        ------
        QueryError : they have no variable in common, or what is given is not in both.
        """
        second = others[other]
        names = self.common(second)
        if not names:
            raise QueryError(f"{other} has no variable of the same name and levels as this model")
        mine, theirs = self._marginals(_event(given))[1], second._marginals(_event(given))[1]
        rows = [{**self._about(name), "now": numbers(mine[name]), "other": numbers(theirs[name])} for name in names]
        rows.sort(key=lambda row: -round(distance(np.array(row["now"]), np.array(row["other"])), 9))
        return {"other": other, "total": len(rows), "variables": rows[:limit]}

    def common(self, other: Explorer) -> list[str]:
        """Variables that another model has with the same levels."""
        theirs = {v.name: set(v.levels) for v in other.space.variables}
        return [v.name for v in self.space.variables if theirs.get(v.name) == set(v.levels)]

    def comparable(self, others: Mapping[str, Explorer]) -> dict[str, Any]:
        """The other models that have variables in common with this one, and how many."""
        found = [(name, len(self.common(other))) for name, other in others.items() if other is not self]
        return {"models": [{"name": name, "n_common": n} for name, n in found if n]}

    def sample_file(self, n: int, seed: int | None, given: Given, kind: Format) -> dict[str, Any]:
        """Exact independent rows as the bytes of a file.

        Raises
        ------
        QueryError : it would have too many cells.
        """
        visible = self.distribution.visible
        if n * len(visible) > MAX_SAMPLED_CELLS:
            raise QueryError(
                f"{n:,} rows of {len(visible):,} columns are more than {MAX_SAMPLED_CELLS:,} cells; ask for fewer "
                "rows, or use fullspan sample"
            )
        codes = self.distribution.sample(n, np.random.default_rng(seed), _event(given) or None)
        return {"content": as_file(decode(codes, visible), kind)}

    def sample(self, n: int, seed: int | None, given: Given) -> dict[str, Any]:
        """Exact independent rows."""
        codes = self.distribution.sample(n, np.random.default_rng(seed), _event(given) or None)
        visible = self.distribution.visible
        rows = [[v.levels[int(c)] for v, c in zip(visible.variables, row, strict=True)] for row in codes]
        return {"variables": list(visible.names), "rows": rows}


def _opened(path: Path) -> Any:
    """The network or estimator in a file."""
    return read_graph(path, MAX_MEMORY) if suffix(path) in NETWORKS else load(path)


def version_of(path: Path) -> str:
    """A text that changes when the file does."""
    stat = path.stat()
    return f"{stat.st_ino:x}-{stat.st_mtime_ns:x}-{stat.st_size:x}"


def _event(given: Given) -> dict[str, Any]:
    """Levels by name; what names no level is left out."""
    return {name: levels for name, levels in given.items() if not isinstance(levels, list) or levels}
