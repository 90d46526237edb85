"""The model file: one JSON text that a person can read, and that a program may open from a stranger.

    {"format": "fullspan-model", "version": 1, "kind": "log-linear",
     "space": {"variables": [{"name": "crime", "levels": ["n", "y"]}, ...]},
     "basis": "walsh", "log_z": ...,
     "terms": [{"term": {"crime": 1, "party": 1}, "order": 2, "words": "...", "weight": ..., ...}, ...],
     "fit": {"status": "converged", "total": 435, ..., "goodness": {...}, "history": [...]},
     "checksum": "..."}

Numbers are written with as many digits as bring the same double back. ``order`` and ``words`` are for people and are
not read. ``checksum`` is the SHA-256 of everything else, as JSON with sorted keys and no spaces: it finds damage, and
is no signature. Reading executes nothing and allocates nothing by a number found in the file. ``n_hidden``,
``diverging`` and ``goodness`` may be absent, as in files of earlier versions: then there are none. From 10,000 terms on
they are columns (:mod:`fullspan.model.files.term_columns`), and the version is 2.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fullspan.data.space import Level, Space, Variable
from fullspan.errors import FullspanError, ModelFileError
from fullspan.model.algebra.basis import BASES, Basis, Term
from fullspan.model.averaged import AveragedLogLinear
from fullspan.model.effects.interaction import read_interaction, record
from fullspan.model.files.atomic import write_atomically
from fullspan.model.files.averaged import members_record, out_of_bag_record, read_average, read_out_of_bag
from fullspan.model.files.log_z_check import check_log_z
from fullspan.model.files.strict_json import MAX_BYTES, Node, read_json, shown
from fullspan.model.files.term_columns import COLUMNS_FROM, columns, read_columns, read_known
from fullspan.model.fitted import Fitted, Step, StepLike
from fullspan.model.goodness import Goodness
from fullspan.model.loglinear import LogLinear

FORMAT, VERSION, KIND = "fullspan-model", 2, "log-linear"
_RECORDS, _COLUMNS = 1, 2
"""Versions of the format: terms as records, and as columns where they are many."""
AVERAGED = "averaged"
KINDS = (KIND, AVERAGED, "tree", "truncated", "layers", "many", "mixture")
"""What files hold: a log-linear model, as above, an average of such (:mod:`fullspan.model.files.averaged`), a tree
(:mod:`fullspan.model.files.tree`), a truncated machine (:mod:`fullspan.model.files.truncated`), a machine in layers
(:mod:`fullspan.model.files.layered`), many models (:mod:`fullspan.model.files.many`) or a mixture
(:mod:`fullspan.model.files.mixture`)."""
MAX_VARIABLES = 1 << 16
_MEASURES = ("divergence", "entropy", "description_length", "drift")
_WHOLE_GOODNESS = ("n_parameters", "df", "nominal_df", "n_cells")
_REAL_GOODNESS = tuple(f.name for f in dataclasses.fields(Goodness) if f.name not in _WHOLE_GOODNESS)


# -- writing --------------------------------------------------------------------------------------------------


def save(fitted: Fitted, path: str | os.PathLike[str]) -> None:
    """Write a model file atomically: whole, or not at all.

    Raises
    ------
    ModelFileError : the file cannot be written, or something in ``fitted`` has no place in JSON.
    """
    write(lambda: document(fitted), Path(path))


def write(content: Callable[[], dict[str, Any]], path: Path) -> None:
    """Write a document with its checksum, atomically; see :func:`save`."""
    try:
        data = _pretty(_signed(content())).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path} cannot be written: the model holds something JSON has no form for ({error})"
        ) from error
    if len(data) > MAX_BYTES:
        raise ModelFileError(f"{path} cannot be written: it would be larger than {MAX_BYTES >> 20} MiB")
    try:
        write_atomically(path, data)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error


def checksum(document: Mapping[str, Any]) -> str:
    """SHA-256 in hexadecimal of a parsed document, its own checksum left out."""
    rest = {key: value for key, value in document.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _signed(document: dict[str, Any]) -> dict[str, Any]:
    """The document as a reader will parse it, with its checksum."""
    parsed = json.loads(_line(document))
    return {**parsed, "checksum": checksum(parsed)}


def header(kind: str, space: Space) -> dict[str, Any]:
    """How every model file begins.

    Raises
    ------
    ModelFileError : there are more variables than are read.
    """
    if len(space) > MAX_VARIABLES:
        raise ModelFileError(f"{len(space):,} variables cannot be written; up to {MAX_VARIABLES:,} are read again")
    return {
        "format": FORMAT,
        "version": _RECORDS,
        "kind": kind,
        "space": {"variables": [_variable(v) for v in space.variables]},
    }


def document(fitted: Fitted) -> dict[str, Any]:
    """What the file of a log-linear model holds, but for its checksum."""
    model = fitted.model
    many = len(model.terms) >= COLUMNS_FROM
    return {
        **header(AVERAGED if isinstance(model, AveragedLogLinear) else KIND, model.space),
        "version": _COLUMNS if many else _RECORDS,
        "basis": model.basis.name,
        "log_z": model.log_z,
        "terms": columns(fitted) if many else [_term(fitted, i) for i in range(len(model.terms))],
        **members_record(model),
        "fit": {
            "status": fitted.status,
            "total": fitted.total,
            "n_rows": fitted.n_rows,
            "n_dropped": fitted.n_dropped,
            **{name: _or_unknown(getattr(fitted, name)) for name in _MEASURES},
            "n_hidden": fitted.n_hidden,
            "diverging": list(fitted.diverging),
            **_explained(fitted),
            "goodness": _goodness(fitted.goodness),
            **out_of_bag_record(fitted.out_of_bag),
            "settings": dict(fitted.settings),
            "fingerprint": fitted.fingerprint,
            "software": fitted.version,
            "history": [step_record(step) for step in fitted.history],
        },
    }


def _explained(fitted: Fitted) -> dict[str, Any]:
    """Interactions, which nats are approximate, and shares of levels; nothing where they have not been worked out."""
    if fitted.interactions is None:
        return {}
    return {
        "interactions": [record(one) for one in fitted.interactions],
        "refitted": np.flatnonzero(~fitted.is_approximate).tolist(),
        "shares": [list(own) for own in fitted.shares],
        **_errors_record(fitted.coefficient_errors),
    }


def _errors_record(errors: np.ndarray | None) -> dict[str, Any]:
    return {} if errors is None else {"coefficient_errors": [_or_null(error) for error in errors.tolist()]}


def _variable(variable: Variable) -> dict[str, Any]:
    record: dict[str, Any] = {"name": variable.name, "levels": [_plain(level) for level in variable.levels]}
    if variable.edges is not None:
        record["edges"] = [edge if math.isfinite(edge) else str(edge) for edge in map(float, variable.edges)]
    elif variable.ordered:
        record["ordered"] = True
    if variable.bin_values is not None:
        record["bin_values"] = [list(values) for values in variable.bin_values]
    return record


def _term(fitted: Fitted, i: int) -> dict[str, Any]:
    model = fitted.model
    term = model.terms[i]
    return {
        "term": {model.space.names[v]: int(component) for v, component in term},
        "order": len(term),
        "words": fitted.describe(i),
        "weight": float(model.theta[i]),
        "standard_error": _or_null(fitted.standard_errors[i]),
        "nats_saved": _or_null(fitted.nats_saved[i]),
    }


def step_record(step: StepLike) -> dict[str, Any]:
    """A row of the history."""
    return {"move": step.move, "n_terms": step.n_terms, "cost": step.cost, "seconds": step.seconds}


def _goodness(goodness: Goodness | None) -> dict[str, Any] | None:
    if goodness is None:
        return None
    return {name: _or_null(value) if isinstance(value, float) else value for name, value in vars(goodness).items()}


def _or_null(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _or_unknown(value: float) -> float | None:
    return None if math.isnan(value) else value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _pretty(value: Any, depth: int = 0) -> str:
    """JSON with one line per variable, term, step and list of numbers: objects are spread out, members of lists not."""
    gap, close = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    if isinstance(value, Mapping) and value:
        return "{" + ",".join(f"{gap}{_line(k)}: {_pretty(v, depth + 1)}" for k, v in value.items()) + close + "}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping | list):
        return "[" + ",".join(f"{gap}{_line(v)}" for v in value) + close + "]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


# -- reading --------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> Fitted:
    """Read a model file.

    Raises
    ------
    ModelFileError : the file is missing, damaged, hostile, or written by a newer version; the message names the
        file and the place in it.
    """
    return read(read_json(Path(path)))


def read(root: Node) -> Fitted:
    """The model in a document; see :func:`load`."""
    if root["kind"].value == AVERAGED:
        check(root, AVERAGED)
        space, basis, weights = read_terms(root)
        return read_fit(root, read_average(root, space, basis, tuple(weights)))
    check(root, KIND)
    return read_fit(root, _read_model(root))


def read_fit(root: Node, model: LogLinear) -> Fitted:
    """What the document says about the fit of a model."""
    fit, terms = root["fit"], root["terms"]
    n_terms = len(model.terms)
    measures = {name: fit[name].number_or_nan() for name in _MEASURES}
    further = fit.fields()
    return Fitted(
        model=model,
        standard_errors=_read_known(terms, "standard_error", n_terms),
        nats_saved=_read_known(terms, "nats_saved", n_terms),
        total=fit["total"].number(least=0),
        n_rows=fit["n_rows"].whole(0),
        n_dropped=fit["n_dropped"].whole(0),
        divergence=measures["divergence"],
        entropy=measures["entropy"],
        description_length=measures["description_length"],
        drift=measures["drift"],
        status=fit["status"].text(),
        settings={key: node.value for key, node in fit["settings"].fields().items()},
        fingerprint=fit["fingerprint"].text(),
        version=fit["software"].text(),
        history=tuple(read_step(node) for node in fit["history"].items()),
        goodness=_read_goodness(further["goodness"]) if "goodness" in further else None,
        diverging=_read_positions(further["diverging"], n_terms) if "diverging" in further else (),
        n_hidden=further["n_hidden"].whole(0, len(model.space) - 1) if "n_hidden" in further else 0,
        out_of_bag=read_out_of_bag(further["out_of_bag"]) if "out_of_bag" in further else None,
        **(_read_explained(fit, model) if "interactions" in further else {}),
    )


def _read_explained(fit: Node, model: LogLinear) -> dict[str, Any]:
    """Interactions, which nats are approximate, and shares of levels."""
    approximate = np.ones(len(model.terms), dtype=bool)
    approximate[list(_read_positions(fit["refitted"], len(model.terms)))] = False
    shares = tuple(tuple(share.number(least=0) for share in own.items()) for own in fit["shares"].items())
    if len(shares) > len(model.space) or any(len(a) != b for a, b in zip(shares, model.space.cards, strict=False)):
        raise fit["shares"].refuse("one share for each level of the observed variables is needed")
    found = tuple(read_interaction(node, model.space.names) for node in fit["interactions"].items())
    known = fit["coefficient_errors"].items() if "coefficient_errors" in fit.fields() else None
    errors = None if known is None else np.array([error.number_or_nan() for error in known], dtype=np.float64)
    return {"interactions": found, "approximate": approximate, "shares": shares, "coefficient_errors": errors}


def _read_known(terms: Node, name: str, n_terms: int) -> np.ndarray:
    """What is known about each term under a name."""
    if isinstance(terms.value, dict):
        return read_known(terms[name], n_terms)
    return np.array([term[name].number_or_nan() for term in terms.items()])


def check(root: Node, kind: str) -> None:
    """Refuse a document that is none of this format, version and kind, or does not match its checksum."""
    _check_header(root, kind)
    _check_sum(root)


def _check_header(root: Node, kind: str) -> None:
    if root["format"].text() != FORMAT:
        raise root["format"].refuse(f"{shown(root['format'].value)} is not {FORMAT!r}")
    version = root["version"].whole(1)
    if version > VERSION:
        raise ModelFileError(
            f"{root.file} was written by a newer version of fullspan (format {version}; this one reads up to "
            f"{VERSION}): upgrade fullspan to open it"
        )
    found = root["kind"].text()
    if found != kind and found in KINDS:
        opens = "fullspan.GroupedModels.load" if found == "many" else "fullspan.load"
        raise ModelFileError(f"{root.file} holds a model of kind {found!r}, where {kind!r} is needed; {opens} opens it")
    if found != kind:
        raise root["kind"].refuse(f"models of kind {shown(found)} are unknown; this version knows {kind!r}")


def _check_sum(root: Node) -> None:
    try:
        expected = checksum(root.value)
    except RecursionError as error:
        raise root.refuse("it is nested too deeply") from error
    if root["checksum"].text() != expected:
        raise ModelFileError(f"{root.file} does not match its checksum: it was changed or damaged")


def _read_model(root: Node) -> LogLinear:
    space, basis, weights = read_terms(root)
    log_z = root["log_z"].number()
    check_log_z(root["log_z"], basis, weights)
    try:
        return LogLinear(space, basis, tuple(weights), np.array(list(weights.values())), log_z)
    except FullspanError as error:
        raise root["terms"].refuse(str(error)) from error


def read_terms(root: Node) -> tuple[Space, Basis, dict[Term, float]]:
    """The variables, the basis, and the terms with their weights."""
    space = read_space(root["space"]["variables"])
    name = root["basis"].text()
    if name not in BASES:
        raise root["basis"].refuse(f"{shown(name)} is none of {', '.join(BASES)}")
    basis = Basis(name, space.cards)
    if isinstance(root["terms"].value, dict):
        return space, basis, read_columns(root["terms"], space)
    weights: dict[Term, float] = {}
    for node in root["terms"].items():
        term = _read_term(node["term"], space)
        if term in weights:
            raise node.refuse("this term stands twice in the file")
        weights[term] = node["weight"].number()
    return space, basis, weights


def read_space(node: Node) -> Space:
    """The variables."""
    variables = list(node.items())
    if not 1 <= len(variables) <= MAX_VARIABLES:
        raise node.refuse(f"{len(variables)} variables; 1 to {MAX_VARIABLES} are possible")
    try:
        return Space(tuple(map(_read_variable, variables)))
    except ModelFileError:
        raise
    except FullspanError as error:
        raise node.refuse(str(error)) from error


def _read_variable(node: Node) -> Variable:
    levels = tuple(_read_level(level) for level in node["levels"].items())
    fields = node.fields()
    edges = tuple(map(_read_edge, node["edges"].items())) if "edges" in fields else None
    ordered = "ordered" in fields and node["ordered"].truth()
    values = tuple(map(_read_bin_values, node["bin_values"].items())) if "bin_values" in fields else None
    try:
        return Variable(node["name"].text(), levels, edges, ordered, values)
    except ModelFileError:
        raise
    except FullspanError as error:
        raise node.refuse(str(error)) from error


def _read_level(node: Node) -> Level:
    if not isinstance(node.value, str | int | float | bool):
        raise node.refuse("a level is text, a number, true or false")
    return node.value


def _read_edge(node: Node) -> float:
    return float(node.value) if node.value in ("inf", "-inf") else node.number()


def _read_bin_values(node: Node) -> tuple[float, ...]:
    return tuple(value.number() for value in node.items())


def _read_term(node: Node, space: Space) -> Term:
    pairs = []
    for name, component in node.fields().items():
        if name not in space.names:
            raise component.refuse("there is no variable of this name")
        i = space.position(name)
        pairs.append((i, component.whole(1, space.cards[i] - 1)))
    if not pairs:
        raise node.refuse("a term has at least one variable")
    return tuple(sorted(pairs))


def read_step(node: Node) -> Step:
    """A row of the history."""
    return Step(node["move"].text(), node["n_terms"].whole(0), node["cost"].number(), node["seconds"].number(least=0))


def _read_goodness(node: Node) -> Goodness | None:
    if node.value is None:
        return None
    whole = {name: node[name].whole(-(2**63)) for name in _WHOLE_GOODNESS}
    real = {name: node[name].number_or_nan() for name in _REAL_GOODNESS}
    values: dict[str, Any] = {**real, **whole}
    return Goodness(**values)


def _read_positions(node: Node, n_terms: int) -> tuple[int, ...]:
    """Positions of terms, increasing."""
    positions = [item.whole(0, n_terms - 1) for item in node.items()]
    if any(a >= b for a, b in itertools.pairwise(positions)):
        raise node.refuse("the positions of terms must increase")
    return tuple(positions)
