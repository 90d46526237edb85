"""Compiled code on disk: damaged files are compiled anew, and nothing needs a folder that can be written."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullspan.model.algebra import jit

KERNEL = """
from fullspan.model.algebra.jit import serial

@serial
def doubled(x):
    return x + x
"""
DAMAGE = """
import importlib.util, sys
from pathlib import Path
from typing import Any

import pytest

from fullspan.model.algebra import jit

def fresh():
    spec = importlib.util.spec_from_file_location("kernel", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.doubled(21) == 42
    return sum(module.doubled.stats.cache_hits.values())

assert (fresh(), fresh()) == (0, 1)
for pattern in ("*.nbi", "*.nbc"):
    for spoil in (lambda data: b"", lambda data: b"garbage", lambda data: data[: len(data) // 2]):
        (path,) = Path(sys.argv[2]).rglob(pattern)
        path.write_bytes(spoil(path.read_bytes()))
        assert (fresh(), fresh()) == (0, 1), pattern
"""


def run(script: str, *arguments: object, **environment: str) -> None:
    given = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**given, **environment}, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_damaged_files_are_compiled_anew(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    run(DAMAGE, tmp_path / "kernel.py", tmp_path / "cache", NUMBA_CACHE_DIR=str(tmp_path / "cache"))


def test_no_folder_for_compiled_code_is_needed(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "__pycache__").write_text("a file where the folder would be")
    run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kernel; assert kernel.doubled(1) == 2",
        HOME="/dev/null",
    )


def test_a_twin_serves_until_compiling_pays_or_fetching_what_is_kept(tmp_path: Path) -> None:
    """Numba is imported when the twin has taken as long as compiling would, or importing it where a kernel is kept."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kernel, os\n"
        "from fullspan.model.algebra import jit\n"
        "assert not kernel.doubled.serves_plain(100, most=99)\n"
        "patience = getattr(jit, sys.argv[1])\n"
        "asked = [kernel.doubled.serves_plain(patience // 2, most=patience) for _ in range(4)]\n"
        "assert asked == [True, True, False, False], asked\n"
        "assert 'numba' not in sys.modules\n"
        "assert kernel.doubled(1) == 2"
    )
    cache = str(tmp_path / "cache")
    run(script, "PATIENCE", NUMBA_CACHE_DIR=cache)
    run(script, "_PATIENCE_TO_FETCH", NUMBA_CACHE_DIR=cache)


def test_what_runs_as_python_is_decided_by_counts_and_not_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded machine prints the same numbers as an idle one."""

    def slowly(x: object) -> object:
        time.sleep(0.01)
        return x

    kernel = jit.Kernel(slowly, {})
    kernel.__module__ = jit._INTERPRETED[1] + "kernel"
    monkeypatch.setattr(kernel, "_is_kept", lambda: True)
    monkeypatch.setattr(kernel, "ready", lambda: lambda x: "compiled")
    given = np.ones(jit._FEW_KEPT)
    served = [kernel(given) is given for _ in range(40)]
    assert served == [k * given.size <= jit._PATIENCE_KEPT for k in range(40)]
    assert not all(served)
    assert kernel(np.ones(jit._FEW_KEPT + 1)) == "compiled"


def test_no_garbage_is_collected_while_numba_compiles(tmp_path: Path) -> None:
    """And it is collected again afterwards, also where compiling fails."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    run(
        f"import gc, sys; sys.path.insert(0, {str(tmp_path)!r}); import kernel\n"
        "from numba.core import event\n"
        "seen = []\n"
        "class Seen(event.Listener):\n"
        "    def on_start(self, event): seen.append(gc.isenabled())\n"
        "    def on_end(self, event): pass\n"
        "kernel.doubled.ready()\n"
        "event.register('numba:compile', Seen())\n"
        "assert kernel.doubled(1) == 2 and seen == [False] and gc.isenabled()\n"
        "try: kernel.doubled([None])\n"
        "except Exception: pass\n"
        "assert gc.isenabled()\n"
        "gc.disable(); kernel.doubled(1.0); assert not gc.isenabled()\n",
        NUMBA_CACHE_DIR=str(tmp_path / "cache"),
    )


def test_a_number_written_in_a_call_needs_no_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(
        KERNEL + "\n@serial\ndef both(x):\n    return doubled(3) + doubled(x) + doubled(-1) + doubled(x=4)\n"
    )
    run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kernel\n"
        "assert kernel.both(1) == 14\n"
        "assert len(kernel.doubled.signatures) == 1, kernel.doubled.signatures",
        NUMBA_CACHE_DIR=str(tmp_path / "cache"),
    )


def test_rounds_of_python_count_as_work_of_a_twin(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kernel\n"
        "from fullspan.model.algebra import jit\n"
        "n = jit.PATIENCE // jit._NUMBERS_PER_ROUND\n"
        "assert kernel.doubled.serves_plain(1, most=1, n_passes=n // 2)\n"
        "assert not kernel.doubled.serves_plain(1, most=1, n_passes=n // 2)\n",
        NUMBA_CACHE_DIR=str(tmp_path / "cache"),
    )


def test_ranges_on_all_cores_make_up_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (1, 2, 3):
        monkeypatch.setattr(jit, "cores", lambda threads=threads: threads)
        for n in (0, 1, 2, 7, 50):
            seen: list[int] = []
            jit.on_cores(lambda start, stop, seen: seen.extend(range(start, stop)), n, seen)
            assert sorted(seen) == list(range(n))


def test_an_error_on_any_core_is_raised_when_no_core_works_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "cores", lambda: 2)
    for failing in range(8):
        running: set[int] = set()

        def kernel(start: int, stop: int, running: set[int] = running, failing: int = failing) -> None:
            running.add(start)
            time.sleep(0.01)
            running.remove(start)
            if start == failing:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            jit.on_cores(kernel, 8)
        assert not running


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_fork_has_threads_of_its_own() -> None:
    """Threads are not inherited: a child that waited for its parent's would wait for ever."""
    script = (
        "import os\nfrom fullspan.model.algebra import jit\njit.cores = lambda: 2\n"
        "def count():\n    seen = []\n"
        "    jit.on_cores(lambda a, b: seen.extend(range(a, b)), 50)\n    return len(seen)\n"
        "assert count() == 50\nchild = os.fork()\n"
        "if not child:\n    os._exit(0 if count() == 50 else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0"
    )
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_inside_of_the_dispatcher_is_ctrl_c() -> None:
    """CPython reports an exception that compiled code leaves behind as a SystemError with that cause."""
    kernel = jit.Kernel(lambda x: x, {})

    def left_behind(cause: BaseException) -> Any:
        def made(*_: Any) -> None:
            raise SystemError("returned a result with an exception set") from cause

        return made

    kernel._made = left_behind(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        kernel(1)
    kernel._made = left_behind(ValueError())
    with pytest.raises(SystemError):
        kernel(1)
