"""Places where tables live: DuckDB in this process, a PostgreSQL server and a local Spark, started for a test.

Each opens an Ibis connection, or skips the test and says what is missing.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skipping import skip_tests

_PATIENCE = 60.0
"""Seconds for a server to start on a busy machine."""


@contextlib.contextmanager
def duckdb() -> Iterator[Any]:
    ibis = pytest.importorskip("ibis")
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


@contextlib.contextmanager
def postgres() -> Iterator[Any]:
    """A server of its own on a free port of the loopback interface; its files go when it stops."""
    ibis = pytest.importorskip("ibis")
    if importlib.util.find_spec("psycopg") is None:
        skip_tests("PostgreSQL", "no driver found; pip install 'fullspan[postgres]'")
    folder = _postgres_programs()
    home = Path(tempfile.mkdtemp(prefix="fullspan-postgres-"))
    try:
        prefix = _as_ordinary_user(home)
        data, port = home / "data", _free_port()
        initdb = [*prefix, str(folder / "initdb"), "-D", str(data), "-A", "trust", "-U", "fullspan", "-E", "UTF8", "-N"]
        done = subprocess.run(initdb, capture_output=True, text=True, cwd=home, timeout=_PATIENCE)
        if done.returncode:
            raise RuntimeError(f"initdb cannot make a database here: {done.stderr.strip()}")
        settings = ["listen_addresses=127.0.0.1", f"port={port}", "unix_socket_directories=", "fsync=off"]
        options = [word for setting in settings for word in ("-c", setting)]
        with (home / "log").open("w") as log:
            command = [*prefix, str(folder / "postgres"), "-D", str(data), *options]
            server = subprocess.Popen(command, stdout=log, stderr=log, cwd=home)
        try:
            _wait_for(port, server, home / "log")
            connection = ibis.postgres.connect(host="127.0.0.1", port=port, user="fullspan", database="postgres")
            yield connection
            connection.disconnect()
        finally:
            server.terminate()
            server.wait(_PATIENCE)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def spark() -> Iterator[Any]:
    """Spark in local mode, with one worker thread and no web page."""
    ibis = pytest.importorskip("ibis")
    if importlib.util.find_spec("pyspark") is None:
        skip_tests("Spark", "no driver found; pip install 'fullspan[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        skip_tests("Spark", "no Java found; put java on the path, or set JAVA_HOME")
    with tempfile.TemporaryDirectory(prefix="fullspan-spark-") as home, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas' version and of sockets, by PySpark itself
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]").appName("fullspan")
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.warehouse.dir": home,
            "spark.local.dir": home,
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield ibis.pyspark.connect(session)
        session.stop()


def _postgres_programs() -> Path:
    """The folder with initdb and postgres, newest first; Debian does not put it on the path."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += [Path(f) for f in sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=_version, reverse=True)]
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    skip_tests("PostgreSQL", "no server on the path or in /usr/lib/postgresql/*/bin; apt-get install postgresql")


def _version(folder: str) -> int:
    name = Path(folder).parent.name
    return int(name) if name.isdigit() else 0


def _as_ordinary_user(home: Path) -> list[str]:
    """What to put before a command so that it does not run as root, which PostgreSQL refuses; ``home`` is theirs."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        skip_tests("PostgreSQL", "the server refuses to run as root; apt-get install util-linux, for setpriv")
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            os.chown(home, user.pw_uid, user.pw_gid)
            return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    skip_tests("PostgreSQL", "the server refuses to run as root; add a user postgres or nobody")


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server takes connections and answers."""
    import psycopg

    end = time.monotonic() + _PATIENCE
    while server.poll() is None and time.monotonic() < end:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(host="127.0.0.1", port=port, user="fullspan", dbname="postgres", connect_timeout=5).close()
            return
        time.sleep(0.1)
    raise RuntimeError(f"the PostgreSQL server did not start: {log.read_text()}")
