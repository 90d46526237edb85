"""Questions as text: what they mean, and where the caret points when they mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullspan.errors import QueryError
from fullspan.query import Query, parse
from fullspan.space import Space, Variable

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
        ("age=1e9 | age != -5.5", Query((), {3: (2,)}, {3: (1, 2)})),
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
        ("crime in n", 6, "the end of the query is expected"),
        ("crime=n, crime=y", 9, "'crime' stands twice"),
        ("crime, crime=y", 7, "'crime' stands twice"),
        ("party | crime=n, crime=y", 17, "'crime' stands twice"),
        ("party | crime", 13, "is expected after 'crime'"),
        ("party |", 7, "a variable's name is expected"),
        ("| crime=n", 0, "a variable's name is expected"),
        ("party, | crime=n", 7, "a variable's name is expected"),
        ("age < 40", 4, "the end of the query is expected"),
        ("'party=democrat", 0, "quotation mark is not closed"),
        (r"party='de\mocrat'", 9, "unknown escape"),
        ("party='democrat\\", 15, "unknown escape"),
        ("party=democrat | crime=n | grade=1", 25, "the end of the query is expected"),
    ],
)
def test_refusals_point_at_the_place(text, place, message):
    with pytest.raises(QueryError) as caught:
        parse(text, SPACE)
    assert message in str(caught.value)
    assert caught.value.position == place
    assert str(caught.value).splitlines()[-1] == " " * (place + 2) + "^"


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
