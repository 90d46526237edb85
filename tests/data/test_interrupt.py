"""Ctrl-C while DuckDB works is a KeyboardInterrupt, whichever of its errors DuckDB reports."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow as pa
import pytest

from fullspan.data.relations import DuckRelation, Key, connect, duck, translated
from fullspan.errors import DataError

LONG = """
import sys
from fullspan.data.relations.duck import DuckRelation
from fullspan.data.relations.files import connect
from fullspan.data.relations.columns import Key
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


class Fake:
    """A connection whose query goes on until it is interrupted."""

    def __init__(self):
        self.stopped = threading.Event()

    def interrupt(self):
        self.stopped.set()


@pytest.mark.parametrize("starts", [True, False])
def test_ctrl_c_before_the_query_is_waited_for(starts, monkeypatch):
    """Between the start of the query and the wait for it, and before its start."""
    submit = ThreadPoolExecutor.submit

    def interrupted(pool, *arguments):
        if starts:
            submit(pool, *arguments)
            assert begun.wait(10)
        raise KeyboardInterrupt

    begun = threading.Event()
    connection = Fake()
    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        DuckRelation(connection, "t", ())._waited(lambda: begun.set() or connection.stopped.wait(10))
    assert time.monotonic() - started < 5
    assert connection.stopped.is_set() == begun.is_set() == starts


def test_one_thread_reads_all_batches(monkeypatch):
    pools = []

    class Counted(ThreadPoolExecutor):
        def __init__(self, *arguments):
            pools.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(duck, "ThreadPoolExecutor", Counted)
    relation = DuckRelation.of(connect(), "(SELECT range AS x FROM range(800000))")
    batches = list(relation.rows([Key(relation.columns[0])]))
    relation.close()
    assert sum(len(batch) for batch in batches) == 800_000
    assert len(batches) > 3
    assert len(pools) == 1


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
