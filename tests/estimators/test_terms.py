"""The table of terms as people see it."""

from __future__ import annotations

import math

import fullspan as fs
from fullspan.estimators.explain import SHOWN_TERMS, InteractionTable, TermRow, TermTable
from fullspan.model.effects import Effect, Interaction, by_nats

ROWS = [
    TermRow("a=<1> goes with b=2 (odds ×3)", ("a", "b"), 2, 0.55, 0.1, 12.25),
    TermRow("a=<1> is favoured (odds ×2)", ("a",), 1, -0.35, 0.05, 120.0),
    TermRow("c is odd", ("c",), 1, 0.1, math.nan, math.nan),
]
TABLE = TermTable(sorted(ROWS, key=by_nats))


def test_the_strongest_come_first_and_the_unknown_last() -> None:
    assert [row.nats_saved for row in TABLE][:2] == [120.0, 12.25]
    assert math.isnan(TABLE[-1].nats_saved)


def test_it_is_a_sequence() -> None:
    assert len(TABLE) == 3
    assert TABLE[0].order == 1
    assert isinstance(TABLE[:2], TermTable)
    assert len(TABLE[:2]) == 2
    assert ROWS[0] in TABLE


def test_it_prints_aligned() -> None:
    lines = repr(TABLE[:2]).splitlines()
    assert lines == [
        "term                           order  weight  std. error  nats saved",
        "a=<1> is favoured (odds ×2)        1  -0.350       0.050       120.0",
        "a=<1> goes with b=2 (odds ×3)      2   0.550       0.100        12.2",
    ]


def test_long_tables_are_cut_with_a_word() -> None:
    table = TermTable(ROWS[:1] * (SHOWN_TERMS + 7))
    assert repr(table).splitlines()[-1] == "... and 7 more"
    assert "... and 7 more" in table._repr_html_()


def test_an_empty_table_prints_its_headings() -> None:
    assert repr(TermTable([])) == "term  order  weight  std. error  nats saved"


def test_html_is_escaped() -> None:
    assert "a=&lt;1&gt;" in TABLE._repr_html_()
    assert "<1>" not in TABLE._repr_html_()


def test_frames_and_dictionaries_hold_the_same() -> None:
    frame = TABLE.to_pandas()
    assert list(frame.columns) == [
        "words",
        "variables",
        "order",
        "weight",
        "standard_error",
        "nats_saved",
        "approximate",
    ]
    assert frame["weight"].tolist() == [row["weight"] for row in TABLE.to_dicts()]
    assert list(TermTable([]).to_pandas().columns) == list(frame.columns)


def test_interactions_without_nats_are_ordered_by_their_size() -> None:
    """Of a model that was given without rows no nats are known: the largest odds ratio leads, whatever its sign."""
    rows = [
        Interaction(names, math.nan, False, "odds ratio", (Effect(tuple(f"{n}=1" for n in names), log_ratio),))
        for names, log_ratio in ((("a", "b"), 0.2), (("a", "c"), 0.5), (("b", "c"), -0.9))
    ]
    table = InteractionTable(sorted(rows, key=by_nats))
    assert [row.variables for row in table] == [("b", "c"), ("a", "c"), ("a", "b")]
    assert table.headings == ("interaction", "order")
    known = sorted([*rows[:2], rows[2].with_nats(0.1, False)], key=by_nats)
    assert [row.variables for row in known] == [("b", "c"), ("a", "c"), ("a", "b")]
    assert InteractionTable(known).headings[-1] == "nats saved"


def test_nats_that_were_not_computed_are_said_to_be_so() -> None:
    """An average with a hidden variable has odds but no refits; a table never prints nan."""
    rows = [[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0]] * 5
    model = fs.BoltzmannMachine(average=2, hidden=1, random_state=0, max_iter=20).fit(rows)
    shown = str(model.interactions_) + str(model.terms_)
    assert "not computed" in shown
    assert "nan" not in shown.split()
