"""Model files with many terms, which are columns of numbers."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullspan.data import Space
from fullspan.errors import ModelFileError
from fullspan.model import Fitted, LogLinear
from fullspan.model.algebra import Basis, log_sum_exp, small_exponents
from fullspan.model.files import checksum, log_linear

SPACE = Space.of_cards((2, 3, 2, 4))
TERMS = (((0, 1),), ((0, 1), (1, 2)), ((1, 1), (2, 1), (3, 3)), ((3, 2),))


def fitted(**changes: Any) -> Fitted:
    theta = np.random.default_rng(3).normal(size=len(TERMS))
    basis = Basis("indicator", SPACE.cards)
    parts: dict[str, Any] = {
        "model": LogLinear(SPACE, basis, TERMS, theta, _log_z(basis, theta)),
        "standard_errors": np.array([0.1, np.nan, 1 / 3, 0.2]),
        "nats_saved": np.full(len(TERMS), np.nan),
        **dict.fromkeys(("total", "divergence", "entropy", "description_length", "drift"), 1.0),
        "n_rows": 1,
        "n_dropped": 0,
        "status": "converged",
    }
    return Fitted(**{**parts, **changes})


def _log_z(basis: Basis, theta: np.ndarray) -> float:
    return float(log_sum_exp(small_exponents(basis, dict(zip(TERMS, theta, strict=True)))))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.fsm"


def columns_document(path: Path) -> dict[str, Any]:
    """The document of the four terms as columns, said here a second time: files of 10,000 terms have this form."""
    log_linear.write(fitted(), path)
    document: dict[str, Any] = json.loads(path.read_text())
    records = document["terms"]
    factors = [(SPACE.position(name), j) for record in records for name, j in record["term"].items()]
    columns = {name: [record[name] for record in records] for name in ("weight", "standard_error")}
    return {
        **document,
        "version": 2,
        "terms": {
            "orders": [len(record["term"]) for record in records],
            "variables": [i for i, _ in factors],
            "components": [j for _, j in factors],
            **columns,
            "nats_saved": None,
        },
    }


def signed(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps({**document, "checksum": checksum(document)}))
    return path


def test_columns_are_read_as_records_are(path: Path) -> None:
    """Terms, weights and what is known about them are the same in both forms, to the last bit."""
    one, two = fitted(), log_linear.read(signed(path, columns_document(path)))
    assert two.model.terms == TERMS
    np.testing.assert_array_equal(two.model.theta, one.model.theta)
    np.testing.assert_array_equal(two.standard_errors, one.standard_errors)
    np.testing.assert_array_equal(two.nats_saved, one.nats_saved)


def test_many_terms_are_columns_that_come_back(path: Path) -> None:
    """From 10,000 terms on the version is 2, and everything comes back to the last bit."""
    space = Space.of_cards((2,) * 150)
    terms = tuple(((i, 1), (j, 1)) for i, j in itertools.combinations(range(150), 2))
    theta = np.random.default_rng(4).normal(size=len(terms)) / 100
    errors = np.where(np.arange(len(terms)) % 7 == 0, np.nan, theta**2)
    model = LogLinear(space, Basis("walsh", space.cards), terms, theta, 104.0)
    log_linear.write(fitted(model=model, standard_errors=errors, nats_saved=np.full(len(terms), np.nan)), path)
    document = json.loads(path.read_text())
    assert (document["version"], len(document["terms"]["orders"])) == (2, 11_175)
    assert document["terms"]["nats_saved"] is None
    back = log_linear.read(path)
    assert back.model.terms == terms
    np.testing.assert_array_equal(back.model.theta, theta)
    np.testing.assert_array_equal(back.standard_errors, errors)


def test_few_terms_are_records_that_old_versions_read(tmp_path: Path) -> None:
    """Below 10,000 terms a file is one of version 1."""
    log_linear.write(fitted(), tmp_path / "m.fsm")
    document = json.loads((tmp_path / "m.fsm").read_text())
    assert document["version"] == 1
    assert [len(record["term"]) for record in document["terms"]] == [1, 2, 3, 1]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("orders", [1, 2, 3], "orders of the terms ask for others"),
        ("orders", [], "orders of the terms ask for others"),
        ("orders", [0, 3, 3, 1], "at least one variable"),
        ("orders", [1.0, 2, 3, 1], "whole number is needed"),
        ("orders", [True, 2, 3, 1], "whole number is needed"),
        ("orders", 7, "a list is needed"),
        ("orders", [2**62] * 4, "not between"),
        ("variables", [0, 0, 1, 1, 2, 4, 3], "not between 0 and 3"),
        ("variables", [0, 0, 1, 1, 2, -1, 3], "not between 0 and 3"),
        ("variables", [0, 0, 1, 2, 1, 3, 3], "must increase"),
        ("components", [1, 1, 2, 1, 2, 3, 2], "not one of its variable's"),
        ("components", [1, 1, 0, 1, 1, 3, 2], "not one of its variable's"),
        ("weight", [1.0, 2.0], "2 numbers for 4 terms"),
        ("weight", [1.0, None, 1.0, 1.0], "a number is needed"),
        ("weight", None, "a list is needed"),
        ("standard_error", [1.0], "1 numbers for 4 terms"),
        ("standard_error", ["0.1"] * 4, "a number is needed"),
    ],
)
def test_columns_that_are_none_are_refused(path: Path, column: str, values: Any, message: str) -> None:
    """A file with a right checksum and columns that do not belong together is refused, at the place."""
    document = columns_document(path)
    document["terms"][column] = values
    with pytest.raises(ModelFileError, match=message):
        log_linear.read(signed(path, document))


def test_a_term_that_stands_twice_is_refused(path: Path) -> None:
    document = columns_document(path)
    document["terms"].update(orders=[1, 1], variables=[0, 0], components=[1, 1], weight=[1.0, 2.0])
    with pytest.raises(ModelFileError, match="is listed twice"):
        log_linear.read(signed(path, document))
