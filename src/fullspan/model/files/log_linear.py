"""The file of a log-linear model; :mod:`fullspan.model.files.envelope` has what it shares with all kinds.

    {..., "kind": "log-linear", ..., "basis": "walsh", "log_z": ...,
     "terms": [{"term": {"crime": 1, "party": 1}, "order": 2, "words": "...", "weight": ..., ...}, ...],
     "fit": {..., "divergence": ..., "goodness": {...}, "interactions": [...], ...}, "checksum": "..."}

``n_hidden``, ``diverging``, ``goodness`` and ``interactions`` may be absent, as in files of earlier versions: then
there are none. Averages and truncated models have all this too, and something of their own.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from fullspan.data.space import Space
from fullspan.model.algebra.basis import BASES, Basis, Term
from fullspan.model.effects.interaction import Effect, Interaction
from fullspan.model.files import envelope
from fullspan.model.files.envelope import finite_or_null, known_or_null
from fullspan.model.files.normalisation import check_log_z
from fullspan.model.files.spaces import read_space
from fullspan.model.files.strict_json import Node, shown
from fullspan.model.files.terms import COLUMNS_FROM, read_known, read_terms, terms_record
from fullspan.model.fitted import Fitted, OutOfBag
from fullspan.model.goodness import Goodness
from fullspan.model.loglinear import LogLinear


def interaction_record(interaction: Interaction) -> dict[str, Any]:
    """An interaction as a file holds it: numbers that are not known are null, infinite ones text."""
    return {
        "variables": list(interaction.variables),
        "nats_saved": _plain(interaction.nats_saved),
        "approximate": interaction.approximate,
        "kind": interaction.kind,
        "effects": [
            {"events": list(e.events), "log_ratio": _plain(e.log_ratio), "standard_error": _plain(e.standard_error)}
            for e in interaction.effects
        ],
        "smallest": _plain(interaction.smallest),
        "largest": _plain(interaction.largest),
        "chosen": interaction.chosen,
        **({} if interaction.has_part else {"has_part": False}),
    }


def _plain(value: float) -> float | str | None:
    return None if math.isnan(value) else str(value) if math.isinf(value) else float(value)


def read_interaction(node: Node, names: tuple[str, ...]) -> Interaction:
    """The interaction in a file.

    Raises
    ------
    ModelFileError : something in it is not what it should be.
    """
    variables = tuple(item.text() for item in node["variables"].items())
    if len(variables) < 2 or len(set(variables)) < len(variables) or not set(variables) <= set(names):
        raise node["variables"].refuse("two or more different variables of the model are needed")
    kind = node["kind"].text()
    if kind not in ("odds ratio", "cell ratio"):
        raise node["kind"].refuse("'odds ratio' or 'cell ratio' is needed")
    effects = tuple(_read_effect(item, len(variables)) for item in node["effects"].items())
    if kind == "odds ratio" and (len(effects), len(variables)) != (1, 2):
        raise node["effects"].refuse("an odds ratio is one number, of two variables")
    smallest, largest = (_read_number(node[name]) for name in ("smallest", "largest"))
    if smallest <= 0 or largest <= 0:
        raise node["smallest"].refuse("the ends of an odds ratio are positive")
    return Interaction(
        variables=variables,
        nats_saved=_read_number(node["nats_saved"]),
        approximate=node["approximate"].truth(),
        kind=kind,  # type: ignore[arg-type]
        effects=effects,
        smallest=smallest,
        largest=largest,
        chosen=node["chosen"].number(least=0),
        has_part="has_part" not in node.fields() or node["has_part"].truth(),
    )


def _read_effect(node: Node, order: int) -> Effect:
    events = tuple(item.text() for item in node["events"].items())
    if len(events) != order:
        raise node["events"].refuse(f"{len(events)} events for {order} variables")
    return Effect(events, _read_number(node["log_ratio"]), _read_number(node["standard_error"]))


def _read_number(node: Node) -> float:
    return float(node.value) if node.value in ("inf", "-inf") else node.number_or_nan()


KIND = LogLinear.kind
_MEASURES = ("divergence", "entropy", "description_length", "drift")
_WHOLE_GOODNESS = ("n_parameters", "df", "nominal_df", "n_cells")
_REAL_GOODNESS = tuple(f.name for f in dataclasses.fields(Goodness) if f.name not in _WHOLE_GOODNESS)


def write(fitted: Fitted, path: str | os.PathLike[str]) -> None:
    """Write a model file; see :func:`fullspan.model.files.envelope.write`."""
    envelope.write(document(fitted, {}), path)


def read(source: envelope.Source) -> Fitted:
    """Read a model file; see :func:`fullspan.model.files.envelope.opened`."""
    root = envelope.opened(source, KIND)
    space, basis, weights = read_weights(root)
    log_z = root["log_z"].number()
    check_log_z(root["log_z"], basis, weights)
    with root["terms"].refusing():
        model = LogLinear(space, basis, tuple(weights), np.array(list(weights.values())), log_z)
    return read_fit(root, model)


# -- what averages and truncated models have too --------------------------------------------------------------


def document(fitted: Fitted, own: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a model of log-linear terms, with what its kind adds."""
    model = fitted.model
    many = len(model.terms) >= COLUMNS_FROM
    return {
        **envelope.header(fitted.kind, model.space, envelope.PACKED if many else envelope.PLAIN),
        "basis": model.basis.name,
        "log_z": model.log_z,
        "terms": terms_record(fitted, as_columns=many),
        **own,
        "fit": envelope.learned(fitted, _learned(fitted)),
    }


def _learned(fitted: Fitted) -> dict[str, Any]:
    return {
        **{name: known_or_null(getattr(fitted, name)) for name in _MEASURES},
        "n_hidden": fitted.n_hidden,
        "diverging": list(fitted.diverging),
        **_explained(fitted),
        "goodness": _goodness(fitted.goodness),
        **_out_of_bag(fitted.out_of_bag),
    }


def _explained(fitted: Fitted) -> dict[str, Any]:
    """Interactions, which nats are approximate, and shares of levels; nothing where they have not been worked out."""
    if fitted.interactions is None:
        return {}
    errors = fitted.coefficient_errors
    return {
        "interactions": [interaction_record(one) for one in fitted.interactions],
        "refitted": np.flatnonzero(~fitted.is_approximate).tolist(),
        "shares": [list(own) for own in fitted.shares],
        **({} if errors is None else {"coefficient_errors": [finite_or_null(error) for error in errors.tolist()]}),
    }


def _goodness(goodness: Goodness | None) -> dict[str, Any] | None:
    if goodness is None:
        return None
    return {
        name: finite_or_null(value) if isinstance(value, float) else value for name, value in vars(goodness).items()
    }


def _out_of_bag(found: OutOfBag | None) -> dict[str, Any]:
    """The out-of-bag likelihood, null where it is not known; nothing for a single fit."""
    if found is None:
        return {}
    return {"out_of_bag": {name: value if math.isfinite(value) else None for name, value in vars(found).items()}}


def read_weights(root: Node) -> tuple[Space, Basis, dict[Term, float]]:
    """The variables, the basis, and the terms with their weights."""
    space = read_space(root)
    basis = read_basis(root["basis"], space)
    return space, basis, read_terms(root["terms"], space)


def read_basis(node: Node, space: Space) -> Basis:
    """A basis by its name."""
    name = node.text()
    if name not in BASES:
        raise node.refuse(f"{shown(name)} is none of {', '.join(BASES)}")
    return Basis(name, space.cards)


def read_fit(root: Node, model: LogLinear) -> Fitted:
    """What a document says about the fit of a model."""
    fit, terms = root["fit"], root["terms"]
    n_terms, further = len(model.terms), fit.fields()
    measures: dict[str, Any] = {name: fit[name].number_or_nan() for name in _MEASURES}
    return Fitted(
        model=model,
        standard_errors=read_known(terms, "standard_error", n_terms),
        nats_saved=read_known(terms, "nats_saved", n_terms),
        goodness=_read_goodness(further["goodness"]) if "goodness" in further else None,
        diverging=read_positions(further["diverging"], n_terms) if "diverging" in further else (),
        n_hidden=further["n_hidden"].whole(0, len(model.space) - 1) if "n_hidden" in further else 0,
        out_of_bag=_read_out_of_bag(further["out_of_bag"]) if "out_of_bag" in further else None,
        **measures,
        **envelope.read_learned(fit),
        **(_read_explained(fit, model) if "interactions" in further else {}),
    )


def _read_explained(fit: Node, model: LogLinear) -> dict[str, Any]:
    """Interactions, which nats are approximate, and shares of levels."""
    approximate = np.ones(len(model.terms), dtype=bool)
    approximate[list(read_positions(fit["refitted"], len(model.terms)))] = False
    shares = tuple(tuple(share.number(least=0) for share in own.items()) for own in fit["shares"].items())
    # Hidden variables are the last ones and have no shares.
    if len(shares) > len(model.space) or any(len(a) != b for a, b in zip(shares, model.space.cards, strict=False)):
        raise fit["shares"].refuse("one share for each level of the observed variables is needed")
    found = tuple(read_interaction(node, model.space.names) for node in fit["interactions"].items())
    known = fit["coefficient_errors"].items() if "coefficient_errors" in fit.fields() else None
    errors = None if known is None else np.array([error.number_or_nan() for error in known], dtype=np.float64)
    return {"interactions": found, "approximate": approximate, "shares": shares, "coefficient_errors": errors}


def _read_goodness(node: Node) -> Goodness | None:
    if node.value is None:
        return None
    whole: dict[str, Any] = {name: node[name].whole(-(2**63)) for name in _WHOLE_GOODNESS}
    real: dict[str, Any] = {name: node[name].number_or_nan() for name in _REAL_GOODNESS}
    return Goodness(**real, **whole)


def _read_out_of_bag(node: Node) -> OutOfBag:
    return OutOfBag(node["score"].number_or_nan(), node["error"].number_or_nan(), node["share"].number_or_nan())


def read_positions(node: Node, n_terms: int) -> tuple[int, ...]:
    """Positions of terms, increasing."""
    return increasing(node, [item.whole(0, n_terms - 1) for item in node.items()], "positions")


def increasing(node: Node, values: list[int], what: str) -> tuple[int, ...]:
    """The positions or places of terms, refused unless each is larger than the one before."""
    if any(a >= b for a, b in itertools.pairwise(values)):
        raise node.refuse(f"the {what} of terms must increase")
    return tuple(values)
