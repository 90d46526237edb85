"""Questions as text: what they mean, and where the caret points when they mean nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.data import Space, Variable
from fullspan.data.tables import binned_variable
from fullspan.errors import QueryError
from fullspan.model.effects import event_words
from fullspan.query import Query as Boxed
from fullspan.query import parse
from fullspan.query.language.parse import MAX_DEPTH

SPACE = Space(
    (
        Variable("party", ("democrat", "republican")),
        Variable("crime", ("n", "y", "unknown")),
        Variable("years in office", ("1", "2 or more")),
        Variable("age", ("[0, 30)", "[30, 60)", "[60, 99]"), (0.0, 30.0, 60.0, 99.0)),
        Variable("flag", (False, True)),
        Variable("grade", (1, 2, 3)),
        Variable("P", ("a", "b")),
        Variable("income", ("<=50K", ">50K")),
        Variable('it\'s \\ "odd"', ("x\n\ty", "z")),
    )
)


def Query(variables, event, given):
    """A question whose event and condition are one box each."""
    return Boxed(variables, (event,), (given,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P(party=democrat | crime=n)", Query((), {0: (0,)}, {1: (0,)})),
        ("party=republican|crime=y", Query((), {0: (1,)}, {1: (1,)})),
        ("  P ( party == democrat , grade = 2 )  ", Query((), {0: (0,), 5: (1,)}, {})),
        ("p(party=democrat)", Query((), {0: (0,)}, {})),
        ("P(party | crime=n)", Query((0,), {}, {1: (0,)})),
        ("crime, party | grade=1", Query((1, 0), {}, {5: (0,)})),
        ("crime, party=democrat", Query((1,), {0: (0,)}, {})),
        ("crime != y", Query((), {1: (0, 2)}, {})),
        ("crime!=y | crime in {y, n}", Query((), {1: (0, 2)}, {1: (0, 1)})),
        ("crime in {unknown,n}", Query((), {1: (0, 2)}, {})),
        ("crime not in{y}", Query((), {1: (0, 2)}, {})),
        ("'years in office'='2 or more'", Query((), {2: (1,)}, {})),
        ('"years in office"="1"', Query((), {2: (0,)}, {})),
        ("age=42", Query((), {3: (1,)}, {})),
        ("age=99 | age != 5.5", Query((), {3: (2,)}, {3: (1, 2)})),
        ("age='[30, 60)'", Query((), {3: (1,)}, {})),
        ("flag=true", Query((), {4: (1,)}, {})),
        ("flag=False", Query((), {4: (0,)}, {})),
        ("grade=3.0", Query((), {5: (2,)}, {})),
        ("P=b", Query((), {6: (1,)}, {})),
        ("P(P | party=democrat)", Query((6,), {}, {0: (0,)})),
        ("income=<=50K", Query((), {7: (0,)}, {})),
        ("income in {>50K}", Query((), {7: (1,)}, {})),
        (r"""'it\'s \\ "odd"'='x\n\ty'""", Query((), {8: (0,)}, {})),
        (r""""it's \\ \"odd\""=z""", Query((), {8: (1,)}, {})),
        ("P(party=democrat\n\t|\n crime=n)", Query((), {0: (0,)}, {1: (0,)})),
    ],
)
def test_meaning(text, expected):
    assert parse(text, SPACE) == expected


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", 0, "a variable's name is expected"),
        ("   ", 3, "a variable's name is expected"),
        ("P()", 2, "a variable's name is expected"),
        ("P(party=democrat", 1, "parenthesis is not closed"),
        ("P(party=democrat]", 8, "no level 'democrat]'"),
        ("P(party=democrat}", 16, "')' is expected"),
        ("party=democrat)", 14, "the end of the query is expected"),
        ("P(party=democrat) now", 18, "the end of the query is expected"),
        ("party=democrat crime=y", 15, "quote names and levels"),
        ("partei=democrat", 0, "did you mean 'party'"),
        ("crime=y | zzz=1", 10, "no variable 'zzz'"),
        ("party=whig", 6, "'party' has no level 'whig'"),
        ("age=old", 4, "no level 'old'"),
        ("age=nan", 4, "no level 'nan'"),
        ("party=", 6, "a level of 'party' is expected"),
        ("crime in {n, maybe}", 13, "no level 'maybe'"),
        ("crime in {}", 10, "a level of 'crime' is expected"),
        ("crime in {n", 9, "brace is not closed"),
        ("crime in {n y}", 12, "',' or '}' is expected"),
        ("crime in n", 9, "a range such as 20..40 is expected after 'in'"),
        ("crime=n, crime=y", 9, "'crime' occurs twice"),
        ("crime, crime=y", 7, "'crime' occurs twice"),
        ("party | crime=n, crime=y", 17, "'crime' occurs twice"),
        ("party | crime", 13, "is expected after 'crime'"),
        ("party |", 7, "a variable's name is expected"),
        ("| crime=n", 0, "a variable's name is expected"),
        ("party, | crime=n", 7, "a variable's name is expected"),
        ("age < 40", 6, "inside the bin [30, 60) of 'age', whose mass is not split: use < 30 or < 60"),
        ("age >= 70", 7, "use >= 60; its edges are 0, 30, 60, 99"),
        ("age > 30", 6, "30 itself belongs to the bin [30, 60) of 'age', whose mass is not split: use >= 30"),
        ("age <= 60", 7, "use < 60"),
        ("age > 99", 6, "all that is > 99 is outside the bins of 'age', which run from 0 to 99"),
        ("age < 0", 6, "outside the bins"),
        ("age >= 120", 7, "120 is outside the bins of 'age', which run from 0 to 99; its edges are 0, 30, 60, 99"),
        ("age = 120", 6, "120 is outside the bins"),
        ("age in {1, -5}", 11, "-5 is outside the bins"),
        ("age in 20..60", 7, "20 lies inside the bin [0, 30)"),
        ("age in 60..30", 7, "write the smaller bound first"),
        ("age > old", 6, "got 'old', which is not a number"),
        ("grade > 3", 8, "no level of 'grade' is > 3; its levels run from 1 to 3"),
        ("grade in 3..1", 9, "write the smaller bound first"),
        ("grade in 7..9", 9, "no level of 'grade' lies in 7..9"),
        ("party > democrat", 8, "have no order"),
        ("flag > 0", 7, "have no order"),
        ("party=Democrat", 6, "did you mean 'democrat'?"),
        ("PARTY=democrat", 0, "did you mean 'party'?"),
        ("crime or party=democrat", 6, "is expected after 'crime'"),
        ("party=democrat or crime", 23, "is expected after 'crime'"),
        ("(party=democrat or crime=n", 0, "parenthesis is not closed"),
        ("not party", 9, "is expected after 'party'"),
        ("H(party=democrat)", 7, "only names are possible here"),
        ("I(party)", 7, "';' is expected here"),
        ("I(party; )", 9, "a variable's name is expected"),
        ("H(party, party)", 9, "occurs twice"),
        ("mode(party | crime)", 18, "is expected after 'crime'"),
        ("'party=democrat", 0, "quotation mark is not closed"),
        (r"party='de\mocrat'", 9, "unknown escape"),
        ("party='democrat\\", 15, "unknown escape"),
        ("party=democrat | crime=n | grade=1", 25, "the end of the query is expected"),
        ("P(party=democrat & crime=n)", 17, "write 'and' instead of '&'"),
        ("party=democrat & crime=n", 15, "write 'and' instead of '&'"),
        ("H(party; crime)", 7, "write ',' instead of ';'"),
        ("P(age between 20 and 30)", 6, "write a range as 'in 20..30'"),
        ("party | age between 20 and 30", 12, "write a range as 'in 20..30'"),
        ("P(party is democrat)", 8, "write '=' instead of 'is'"),
        ("grade in 1...3", 10, "a range has two dots, such as 1..3"),
        ("E(age)", 0, "there is no function 'E'; there are P, H, I, N and mode"),
        (" mean (age | crime=n)", 1, "there is no function 'mean'"),
    ],
)
def test_refusals_point_at_the_place(text, place, message):
    with pytest.raises(QueryError) as caught:
        parse(text, SPACE)
    assert message in str(caught.value)
    assert caught.value.position == place
    assert str(caught.value).splitlines()[-1] == " " * (place + 2) + "^"


LONG_EDGES = (-1.23456749, 0.1234567, 0.1234568, 1.80235971, 2.7182818)
LONG = Space((binned_variable("z", LONG_EDGES),))


@pytest.mark.parametrize("text", ["z >= 1.80236", "z >= 1.80235971"])
def test_a_bound_as_it_is_printed_is_the_edge(text):
    """Bounds come from error messages and labels, which show few digits of an edge."""
    assert parse(text, LONG).event == ({0: (3,)},)


def test_printed_edges_can_be_used_as_bounds():
    """Each advice and each edge that a refusal lists is itself a question that can be asked."""
    with pytest.raises(QueryError) as caught:
        parse("z >= 1.5", LONG)
    message = str(caught.value).splitlines()[0]
    advised = re.findall(r">= ([-\d.]+)(?= or|;)", message)
    assert [parse(f"z >= {bound}", LONG).event for bound in advised] == [({0: (2, 3)},), ({0: (3,)},)]
    edges = message.split("its edges are ")[1].split(", ")
    assert len(set(edges)) == 5
    assert [len(parse(f"z >= {edge}", LONG).event[0][0]) for edge in edges[:-1]] == [4, 3, 2, 1]
    low, *_, high = edges
    assert parse(f"z in {low}..{high}", LONG).event == ({0: (0, 1, 2, 3)},)
    assert parse(f"z = {low} or z = {high}", LONG).event == ({0: (0, 3)},)
    assert event_words(LONG.variables[0], (2, 3)) == "z ≥ 0.1234568"
    assert parse(event_words(LONG.variables[0], (2, 3)), LONG).event == ({0: (2, 3)},)


def test_a_bound_as_the_label_prints_it_is_the_edge():
    space = Space((binned_variable("z", (0.0, 1.80235971, 2.7182818)),))
    assert space.variables[0].levels == ("[0, 1.802)", "[1.802, 2.718]")
    assert parse("z < 1.802", space).event == ({0: (0,)},)
    assert parse("z < 1.80236", space).event == ({0: (0,)},)
    with pytest.raises(QueryError, match=r"1\.803 lies inside the bin \[1\.802, 2\.718\]"):
        parse("z < 1.803", space)


@pytest.mark.parametrize("opening", ["(", "not ", "not ("])
def test_nesting_has_a_limit(opening):
    closing = ")" * opening.count("(")
    half = MAX_DEPTH // 2
    assert parse(opening * half + "crime=y" + closing * half, SPACE) == Query((), {1: (1,)}, {})
    for n in (MAX_DEPTH + 1, 3000):
        with pytest.raises(QueryError, match="nested at most 100 deep"):
            parse(opening * n + "crime=y" + closing * n, SPACE)


def test_the_caret_stays_in_place_under_line_breaks():
    with pytest.raises(QueryError) as caught:
        parse("party=democrat |\ncrime=x", SPACE)
    assert str(caught.value).splitlines()[-2] == "  party=democrat | crime=x"
    assert str(caught.value).splitlines()[-1].index("^") == 2 + 23


@given(st.text(alphabet="Pparty=(){}|,'\"\\ !in n\ty0.5<", max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(text):
    """Nothing but QueryError comes out of a text that cannot be read, and its caret stays inside the text."""
    places = [0]
    try:
        parse(text, SPACE)
    except QueryError as error:
        places.append(-1 if error.position is None else error.position)
    assert 0 <= min(places) <= max(places) <= len(text)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_quoted_comes_back(data):
    """Any names and levels can be asked about when they are quoted."""
    words = st.text(min_size=1, max_size=8)
    names = data.draw(st.lists(words, min_size=2, max_size=3, unique=True))
    space = Space(
        tuple(Variable(name, tuple(data.draw(st.lists(words, min_size=1, max_size=3, unique=True)))) for name in names)
    )
    codes = [data.draw(st.integers(0, v.card - 1)) for v in space.variables]

    def quoted(word):
        for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\t", "\\t")):
            word = word.replace(plain, escaped)
        return f"'{word}'"

    parts = [f"{quoted(v.name)} = {quoted(v.levels[c])}" for v, c in zip(space.variables, codes, strict=True)]
    query = parse(f"P({parts[0]} | {', '.join(parts[1:])})", space)
    assert query == Query((), {0: (codes[0],)}, {i: (codes[i],) for i in range(1, len(names))})


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("age >= 30", ({3: (1, 2)},)),
        ("age<60", ({3: (0, 1)},)),
        ("age <= 99", ({3: (0, 1, 2)},)),
        ("age in 0..60", ({3: (0, 1)},)),
        ("age in 30 .. 99", ({3: (1, 2)},)),
        ("age not in 30..60", ({3: (0, 2)},)),
        ("age ≥ 30", ({3: (1, 2)},)),
        ("age≥30 and age≤99", ({3: (1, 2)},)),
        ("grade ≤ 2", ({5: (0, 1)},)),
        ("crime ≠ y", ({1: (0, 2)},)),
        ("crime≠y", ({1: (0, 2)},)),
        ("grade > 1", ({5: (1, 2)},)),
        ("grade <= 2.5", ({5: (0, 1)},)),
        ("grade in 2..3", ({5: (1, 2)},)),
        ("grade >= -1e9, grade != 2", ({5: (0, 2)},)),
        ("age >= 30, age < 60", ({3: (1,)},)),
        ("crime=n or crime=y", ({1: (0, 1)},)),
        ("party=democrat and crime=n", ({0: (0,), 1: (0,)},)),
        ("party=democrat or crime=n", ({0: (0,)}, {1: (0,), 0: (1,)})),
        ("not (party=democrat or crime=n)", ({0: (1,), 1: (1, 2)},)),
        ("not party=democrat", ({0: (1,)},)),
        ("NOT(crime=n) AND party=democrat", ({1: (1, 2), 0: (0,)},)),
        ("(party=democrat, grade=1) or not grade in {1, 2}", ({0: (0,), 5: (0,)}, {5: (2,)})),
        ("party=democrat and not party=democrat", ({0: ()},)),
    ],
)
def test_events_as_boxes(text, event):
    assert parse(text, SPACE) == Boxed((), event)
    assert parse(f"P({text})", SPACE) == Boxed((), event)
    assert parse(f"P(income | {text})", SPACE) == Boxed((7,), given=event)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("H(party)", Boxed((0,), kind="entropy")),
        ("H(party, crime | age >= 60, grade)", Boxed((0, 1), ({},), ({3: (2,)},), "entropy", known=(5,))),
        ("H()", Boxed(kind="entropy")),
        ("H(| grade=1)", Boxed(given=({5: (0,)},), kind="entropy")),
        ("I(party; crime, age)", Boxed((0,), kind="mutual_information", others=(1, 3))),
        ("i(party ;crime|grade)", Boxed((0,), kind="mutual_information", others=(1,), known=(5,))),
        ("mode(| party=democrat)", Boxed(given=({0: (0,)},), kind="mode")),
        ("mode(crime, age | party=democrat)", Boxed((1, 3), given=({0: (0,)},), kind="mode")),
        ("Mode()", Boxed(kind="mode")),
    ],
)
def test_other_questions(text, expected):
    assert parse(text, SPACE) == expected


def test_the_missing_level_satisfies_no_comparison():
    space = Space(
        (Variable("age", ("[0, 30)", "[30, 60]", "(missing)"), (0.0, 30.0, 60.0)), Variable("n", (1, 2, "(missing)")))
    )
    assert parse("age >= 0", space).event == ({0: (0, 1)},)
    assert parse("n >= 1", space).event == ({1: (0, 1)},)
    assert parse("not n >= 1", space).event == ({1: (2,)},)
    assert parse("age='(missing)'", space).event == ({0: (2,)},)


def test_words_of_the_language_may_be_names_when_quoted():
    space = Space((Variable("not", (0, 1)), Variable("or", ("in", "and"))))
    assert parse("'not'=1 or 'or'=in", space).event == ({0: (1,)}, {1: (0,), 0: (0,)})
    assert parse("not = 1, or = and", space).event == ({0: (1,), 1: (1,)},)


def test_too_many_pieces_name_the_limit():
    space = Space.of_cards([3] * 20)
    pairs = " and ".join(f"(x{2 * i}=0 or x{2 * i + 1}=0)" for i in range(10))
    with pytest.raises(QueryError, match="more than 256 disjoint pieces"):
        parse(pairs, space)


def test_suggestions_ignore_case_and_list_what_there_is():
    space = Space((*(Variable(f"v{i}", (0, 1)) for i in range(20)), Variable("CAD", ("Yes", "No"))))
    with pytest.raises(
        QueryError, match=r"no variable 'cad' \(did you mean 'CAD'\?\); the variables are: v0, .*, and 9 more"
    ):
        parse("P(cad=Yes)", space)
    with pytest.raises(QueryError, match=r"no level 'yes' \(did you mean 'Yes'\?\); its levels are: Yes, No"):
        parse("P(CAD=yes)", space)


def test_levels_with_an_order_are_compared_by_their_place():
    space = Space((Variable("size", ("small", "medium", "large"), ordered=True),))
    assert parse("size >= medium", space).event == ({0: (1, 2)},)
    assert parse("size in small..medium", space).event == ({0: (0, 1)},)
    with pytest.raises(QueryError, match=r"no level 'Medium'.*did you mean 'medium'"):
        parse("size < Medium", space)
