"""Answers about one model in plain JSON types: what the API says, without HTTP.

Every model and network is asked through its distribution, which is bounded in memory.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.arrays import Array
from fullspan.data.space import Space
from fullspan.errors import QueryError
from fullspan.estimators.explain.interactions import as_dict
from fullspan.estimators.explain.links import NATS_SAVED, Link, Links, links_of_network
from fullspan.estimators.inputs.checks import check_exact_joint
from fullspan.estimators.networks import read_graph
from fullspan.estimators.registry import distribution_of, load
from fullspan.model.files.networks.formats import NETWORKS, suffix
from fullspan.query.distribution import Distribution
from fullspan.query.language.cuts import INDEPENDENT
from fullspan.query.language.parse import parse
from fullspan.query.language.result import Count, MostProbable, Table

MAX_NODES = 150
"""Most variables in one answer."""
MAX_EDGES, MAX_GROUPS = 600, 40


class Neighbourhoods:
    """Answers which variables are near which.

    Parameters
    ----------
    names : all variables.
    links : one per set of variables, strongest first.
    """

    def __init__(self, names: Sequence[str], links: Sequence[Link]) -> None:
        self.names, self.links = tuple(names), tuple(links)
        self._of: dict[str, list[int]] = {name: [] for name in self.names}
        for k, link in enumerate(self.links):
            for name in link.row.variables:
                self._of[name].append(k)

    def near(self, focus: str | None, radius: int, limit: int) -> dict[str, Any]:
        """The graph within ``radius`` steps of a variable, nearest first; without one, its strongest part."""
        limit = min(limit, MAX_NODES)
        kept = self._around(focus, radius, limit) if focus is not None else self._strongest(limit)
        near = sorted({k for name in kept for k in self._of[name]})
        inside = [self.links[k] for k in near if set(self.links[k].row.variables) <= kept.keys()]
        pairs = [link for link in inside if link.row.order == 2]
        groups = [link for link in inside if link.row.order > 2]
        return {
            "nodes": [{"name": name, "degree": len(self._of[name])} for name in kept],
            "edges": [_edge(link) for link in pairs[:MAX_EDGES]],
            "groups": [{"members": list(link.row.variables), **_facts(link)} for link in groups[:MAX_GROUPS]],
            "total_edges": len(pairs),
            "total_groups": len(groups),
            "total_nodes": len(self.names),
            "total_interactions": len(self.links),
        }

    def _around(self, focus: str, radius: int, limit: int) -> dict[str, None]:
        kept, front = {focus: None}, [focus]
        for _ in range(radius):
            reached: list[str] = []
            for name in front:
                for k in self._of[name]:
                    for other in self.links[k].row.variables:
                        if other not in kept and len(kept) < limit:
                            kept[other] = None
                            reached.append(other)
            front = reached
        return kept

    def _strongest(self, limit: int) -> dict[str, None]:
        if len(self.names) <= limit:
            return dict.fromkeys(self.names)
        kept: dict[str, None] = {}
        for link in self.links:
            new = [name for name in link.row.variables if name not in kept]
            if len(kept) + len(new) > limit:
                break
            kept.update(dict.fromkeys(new))
        return kept or dict.fromkeys(self.names[:limit])


def _edge(link: Link) -> dict[str, Any]:
    a, b = link.row.variables
    return {"a": a, "b": b, "direction": link.row.direction, **_facts(link)}


def _facts(link: Link) -> dict[str, Any]:
    return {"strength": link.strength, "approximate": link.approximate, "kind": link.kind, "words": link.row.words}


MAX_ASKED, MAX_CELLS = 12, 4096
"""Variables that one question may leave open, and cells of its answer."""
MAX_MEMORY = 1 << 30
"""Bytes that the tables of one question may take."""
MAX_SAMPLES = 1000
Given = Mapping[str, Any]


class Explorer:
    """One model file, opened.

    Parameters
    ----------
    path : a model file or network.

    Raises
    ------
    ModelFileError : the file cannot be read.
    FullspanError : the model predicts some columns from others, or is one in layers.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = version_of(path)
        self.estimator: Any = None
        self.joined: Links
        if suffix(path) in NETWORKS:
            network = read_graph(path, MAX_MEMORY)
            self.distribution: Distribution = network.distribution_
            self.kind, self.joined = "network", links_of_network(network.graph)
        else:
            self.estimator = load(path)
            check_exact_joint(self.estimator, str(path), "the explorer")
            self.kind, self.joined = type(self.estimator).__name__, self.estimator._links()
            self.distribution = distribution_of(self.estimator.fitted_, MAX_MEMORY)
        self.prior = self.distribution.marginals().shares
        # Nodes of a hidden tree can be named in questions, but are not listed: each would only repeat its variable.
        self.space = Space(tuple(v for v in self.distribution.space.variables if v.name in self.prior))
        self.near = Neighbourhoods(self.space.names, self.joined.links)

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
            "n_interactions": len(self.joined.links),
            "called": self.joined.called,
            "n_rows": round(getattr(fitted, "total", 0)),
            "status": getattr(fitted, "status", "given"),
        }

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
        return {"name": v.name, "levels": list(v.levels), "ordered": v.ordered, "prior": _list(self.prior[v.name])}

    def graph(self, focus: str | None = None, radius: int = 1, limit: int = 60) -> dict[str, Any]:
        """The interaction graph, or the part of it near a variable."""
        if focus is not None:
            self.space.position(focus)
        found = self.near.near(focus, radius, limit)
        nodes = [{**node, **self._about(node["name"])} for node in found["nodes"]]
        return {**found, "nodes": nodes, "measure": self.joined.measure}

    def interactions(self, offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """What joins the variables, strongest first: the effect in words, its 95 % interval, and the strength."""
        shown = [_row(link, self.joined.measure) for link in self.joined.links[offset : offset + limit]]
        about = {"called": self.joined.called, "measure": self.joined.measure, "note": self.joined.note}
        return {"total": len(self.joined.links), **about, "interactions": shown}

    def terms(self, offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """The weights of the basis in words, strongest first; none of a model without terms."""
        table = getattr(self.estimator, "terms_", None)
        if table is None:
            return {"total": 0, "headings": [], "terms": []}
        shown = [{"chosen": 1.0, **_plain(row)} for row in table[offset : offset + limit].to_dicts()]
        return {"total": len(table), "headings": list(table.headings), "terms": shown}

    # -- what it answers --------------------------------------------------------------------------------------

    def distributions(self, given: Given, variables: list[str]) -> dict[str, Any]:
        """``P(x_i | given)`` of some variables, and the log-probability of what is given."""
        for name in variables:
            self.space.position(name)
        log_prob, found = self._marginals(_event(given))
        return {"log_prob": _finite(log_prob), "marginals": {name: _list(found[name]) for name in variables}}

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
        cut = self.distribution.cut_bins(text, _event(given))
        notes = [*cut, *([INDEPENDENT] if cut else [])]
        reply: dict[str, Any] = {"probability": None, "nats": None, "variables": [], "rows": [], "notes": notes}
        if isinstance(answer, Table):
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
            raise QueryError("what is given has probability 0, and nothing can be asked given it")
        now = np.exp(log_prob - log_prob.max())
        now /= now.sum()
        rows: list[dict[str, Any]] = []
        for v in self.space.variables:
            if v.name in known or v.name == target:
                continue
            joint = np.zeros((variable.card, v.card))
            for k, marginals in found.items():
                joint[k] = now[k] * marginals[v.name]
            rows.append({"variable": v.name, **_moves(now, joint, v.levels)})
        rows.sort(key=lambda row: -float(row["moves"]))
        return {"target": target, "levels": list(variable.levels), "now": _list(now), "rows": rows[:limit]}

    def sample(self, n: int, seed: int | None, given: Given) -> dict[str, Any]:
        """Exact independent rows."""
        codes = self.distribution.sample(n, np.random.default_rng(seed), _event(given) or None)
        visible = self.distribution.visible
        rows = [[v.levels[int(c)] for v, c in zip(visible.variables, row, strict=True)] for row in codes]
        return {"variables": list(visible.names), "rows": rows}


def _moves(now: Any, joint: Any, levels: Any) -> dict[str, Any]:
    """``P(target | level)`` of every level from ``joint`` (target, level); and the mean distance from now."""
    total = joint.sum(axis=0)
    shares = np.where(total > 0, joint / np.where(total > 0, total, 1.0), now[:, None])
    each = [
        {"level": level, "probability": float(total[j]), "target": _list(shares[:, j])}
        for j, level in enumerate(levels)
    ]
    return {"levels": each, "moves": float(total @ np.abs(shares - now[:, None]).sum(axis=0)) / 2}


def version_of(path: Path) -> str:
    """A text that changes when the file does."""
    stat = path.stat()
    return f"{stat.st_ino:x}-{stat.st_mtime_ns:x}-{stat.st_size:x}"


def _row(link: Link, measure: str) -> dict[str, Any]:
    """A link in JSON's types; a model without odds ratios or nats saved has null for them."""
    row = _plain(as_dict(link.row)) | {"strength": link.strength, "approximate": link.approximate, "kind": link.kind}
    row["words"] = link.row.remarked
    row["nats_saved"] = row["nats_saved"] if measure == NATS_SAVED else None
    return row


def _event(given: Given) -> dict[str, Any]:
    """Levels by name; what names no level is left out."""
    return {name: levels for name, levels in given.items() if not isinstance(levels, list) or levels}


def _list(values: Any) -> list[float]:
    return [float(x) for x in values]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {k: _finite(v) if isinstance(v, float) else v for k, v in row.items()}
