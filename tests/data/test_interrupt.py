"""Ctrl-C while DuckDB works is a KeyboardInterrupt, whichever of its errors DuckDB reports."""

import signal
import subprocess
import sys
import time

import duckdb
import pyarrow as pa
import pytest

from fullspan.data.duck import translated
from fullspan.errors import DataError

LONG = """
import sys
from fullspan.data.duck import DuckRelation
from fullspan.data.files import connect
from fullspan.data.relation import Key
relation = DuckRelation.of(connect(), "(SELECT range % 7 AS x FROM range(1000000000000))")
print("ready", flush=True)
try:
    list(relation.groups([Key(relation.columns[0])], None))
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_in_a_long_query():
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", LONG], stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.5)  # into the query
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=15)
        finally:
            child.kill()
    assert (child.returncode, err) == (130, "")


def fails(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Query interrupted"),
        duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
        pa.ArrowInvalid("INTERRUPT Error: Interrupted!"),
    ],
)
def test_every_form_of_the_interrupt(error):
    with pytest.raises(KeyboardInterrupt):
        translated(fails(error))


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="something else"):
        translated(fails(RuntimeError("something else")))
    with pytest.raises(DataError, match="no such type"):
        translated(fails(pa.ArrowNotImplementedError("no such type")))
