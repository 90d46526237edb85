"""The one place that holds the options of compiled code, and that imports Numba.

Decorating a function costs nothing: Numba is imported, and the function compiled or fetched from the cache, at the
first call. So whoever fits a small table, which needs no compiled code, never waits for it.

A step on a small table takes a tenth of a millisecond. Threads that sleep between steps take half of that to wake up;
threads that wait for each other by spinning make it twenty times slower as soon as anything else runs on the machine.
So they spin for some ten microseconds, long enough for the next step to follow, and sleep then. GNU OpenMP reads its
waiting policy once, when it is loaded, which is when the first kernel is compiled or fetched from the cache; a user's
own setting is respected.

Compiled code is kept on disk by Numba. A file of it that is damaged is written anew, and where none can be written,
code is compiled for this process alone.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

# Rounding may be reassociated and contracted, so that loops vectorise; NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "arcp", "nsz"}
_LOCK = threading.RLock()
PATIENCE, _PATIENCE_TO_FETCH = 1 << 30, 1 << 27
"""Numbers that NumPy visits for tables of middle size before kernels are compiled, or fetched from the disk: in about
as long as that takes. Where one kernel is kept others may not be, so that a short fit does not rely on it."""
_NUMBERS_PER_ROUND = 1 << 14
"""Numbers that NumPy visits while Python makes a round of a loop of a few calls."""
_INTERPRETED = (
    "fullspan.engine.elimination.ordering.",
    "fullspan.engine.elimination.sweeps.",
    "fullspan.engine.elimination.decimation.",
)
"""Rooms whose kernels run as Python while that is quicker than to compile them, or to fetch them from the disk."""
_FEW, _FEW_KEPT, _FEW_ORDERED = 1 << 15, 1 << 8, 1 << 10
"""Numbers in a kernel's arguments up to which a call runs as Python: where it is not kept on disk, where it is, and of
kernels that order nodes, whose time grows faster than their arrays."""
PATIENCE_PYTHON, _PATIENCE_KEPT = 1 << 18, 1 << 13
"""Numbers that a kernel visits as Python before it is compiled, or fetched from the disk: in some two seconds, or in a
tenth. Numbers and not seconds, since the two differ by rounding: what a program prints must not depend on the clock."""
_QUADRATIC_PART = 32
"""Kernels that order nodes visit the square of their numbers over this."""
_here = threading.local()


class Deferred:
    """Something of Numba's that a module names before Numba is imported; :meth:`ready` is the thing itself.

    Numba reads a function's globals when it compiles it. So everything deferred among the globals of a kernel is
    replaced by the thing itself just before. Until then ``plain`` is called in its place.
    """

    def __init__(self, make: Callable[[], Any], plain: Callable[..., Any]) -> None:
        self._make, self._made, self._plain = make, None, plain

    def ready(self) -> Any:
        """The thing itself, made at the first call."""
        if self._made is None:
            with _LOCK:
                if self._made is None:
                    self._made = self._make()
        return self._made

    def __call__(self, *arguments: Any) -> Any:
        return (self._plain if self._made is None else self._made)(*arguments)


class Kernel(Deferred):
    """A function that is compiled at its first call, or once it has been called with enough numbers."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(functools.partial(_dispatcher, function, options), function)
        self.py_func, self._as_python, self._visited = function, 0, 0
        self._kept: bool | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        # The usual case first: a kernel that is ready costs one comparison more than Numba's own call.
        if self._made is not None:
            try:
                return self._made(*arguments)
            except SystemError as error:  # Ctrl-C inside of Numba's dispatcher
                if isinstance(error.__cause__, KeyboardInterrupt):
                    raise KeyboardInterrupt from None
                raise
        if getattr(_here, "interprets", False):
            return self.py_func(*arguments)
        if not self.runs_as_python(arguments):
            return self.ready()(*arguments)
        n = _n_numbers(arguments)
        self._as_python += n * n // _QUADRATIC_PART if self._orders_nodes() else n
        # Kernels called from this one run as Python as well: compiling them would be what is to be avoided.
        _here.interprets = True
        try:
            with np.errstate(all="ignore"):
                return self.py_func(*arguments)
        finally:
            _here.interprets = False

    def serves_plain(self, n_numbers: int, most: int, n_passes: int = 0) -> bool:
        """Whether a twin in NumPy is to serve ``n_numbers`` now, of up to ``most``, since compiling would take longer.

        It does until it has visited enough numbers for compiling to pay, or where this kernel is kept on disk for
        fetching it.
        ``n_passes`` are the rounds of the twin's Python loops, each of which takes as long as many numbers.
        """
        if self._made is not None or n_numbers > most:
            return False
        before = self._visited
        self._visited += n_numbers + _NUMBERS_PER_ROUND * n_passes
        if before <= _PATIENCE_TO_FETCH < self._visited:
            self._kept = self._is_kept()
        return self._visited <= (_PATIENCE_TO_FETCH if self._kept else PATIENCE)

    def _is_kept(self) -> bool:
        """Whether this kernel, as it is now, is on disk: looked for where Numba keeps it, without importing Numba."""
        source, name = Path(self.py_func.__code__.co_filename), self.py_func.__qualname__
        folder, pattern = os.environ.get("NUMBA_CACHE_DIR"), f"{source.stem}.{name}-*.nbi"
        try:
            if folder:
                found = [*Path(folder).glob(f"*/{pattern}")]
            else:
                cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
                found = [*(source.parent / "__pycache__").glob(pattern), *(Path(cache) / "numba").glob(f"*/{pattern}")]
            # Numba compares the source's time and size too, and compiles again where the source is newer.
            return any(path.stat().st_mtime >= source.stat().st_mtime for path in found)
        except (OSError, RuntimeError):  # no folder that can be read, or no home
            return False

    def runs_as_python(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a call would run as Python, which is done before Numba is imported."""
        if self._made is not None or not self.__module__.startswith(_INTERPRETED):
            return False
        if self._as_python > PATIENCE_PYTHON:
            return False
        if self._kept is None:  # looked up once: a kernel that this process compiles is no longer asked about
            self._kept = self._is_kept()
        if self._kept and self._as_python > _PATIENCE_KEPT:
            return False
        return _n_numbers(arguments) <= self._few()

    def _orders_nodes(self) -> bool:
        return self.__module__.startswith(_INTERPRETED[0])

    def _few(self) -> int:
        if self._kept:
            return _FEW_KEPT
        return _FEW_ORDERED if self._orders_nodes() else _FEW

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.ready(), name)


def _n_numbers(value: Any) -> int:
    """Numbers in the arrays of a kernel's arguments, and one for each other argument."""
    if isinstance(value, tuple):
        return sum(map(_n_numbers, value))
    return value.size if isinstance(value, np.ndarray) else 1


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Numba's form of a function, with the cache below; without a cache where no folder for it is writable."""
    from numba import njit

    _spare_the_collector()
    dispatcher = njit(nogil=True, error_model="numpy", **options)(function)
    if hasattr(dispatcher, "enable_caching"):  # with NUMBA_DISABLE_JIT it is the function itself
        with contextlib.suppress(RuntimeError, OSError):
            dispatcher._cache = _cache_class()(dispatcher.py_func)
        _forget_literals(dispatcher)
    _make_ready(function, function.__globals__, dispatcher)
    return dispatcher


def _forget_literals(dispatcher: Any) -> None:
    """Let ``kernel(0, ...)`` inside a kernel use the code for any integer, instead of compiling another one for 0."""
    from numba.core import errors, types

    call_template = dispatcher.get_call_template

    def without_literals(arguments: Any, keywords: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in keywords.items()}  # type: ignore[no-untyped-call]
        try:
            return call_template(tuple(map(types.unliteral, arguments)), plain)
        except errors.NumbaError:  # it may be a number that chooses a type
            return call_template(arguments, keywords)

    dispatcher.get_call_template = without_literals


@functools.cache
def _spare_the_collector() -> None:
    """Collect no garbage while Numba compiles: it makes many objects that stay. Saves a tenth of its time."""
    from numba.core import event

    class Pause(event.Listener):
        """Counts compilations, which nest and may run in several threads."""

        def __init__(self) -> None:
            self.lock, self.depth, self.was_enabled = threading.Lock(), 0, False

        def on_start(self, event: Any) -> None:
            with self.lock:
                if self.depth == 0:
                    self.was_enabled = gc.isenabled()
                    gc.disable()
                self.depth += 1

        def on_end(self, event: Any) -> None:
            with self.lock:
                self.depth -= 1
                if self.depth == 0 and self.was_enabled:
                    gc.enable()

    event.register("numba:compile", Pause())  # type: ignore[no-untyped-call]


def _make_ready(function: Callable[..., Any], home: dict[str, Any], dispatcher: Any) -> None:
    """Replace what is deferred among the names that a function uses, in its module and in those that it imports."""
    # Only what this function uses: making everything in the module ready would compile all of it.
    names = _names(function.__code__)
    modules = [value.__dict__ for name in names if isinstance(value := home.get(name), ModuleType)]
    for place in (home, *modules):
        for name in names:
            value = place.get(name)
            if isinstance(value, Deferred):  # a function that calls itself is not made twice
                place[name] = dispatcher if getattr(value, "py_func", None) is function else value.ready()


def _names(code: CodeType) -> set[str]:
    """Global names that a function uses, those inside it included."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


@functools.cache
def _cache_class() -> Any:
    from numba.core.caching import FunctionCache

    class Cache(FunctionCache):
        """Numba's cache of a function, in which damage is a miss and a failure to write is none."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            except Exception:  # unpickling what is damaged may raise anything
                with contextlib.suppress(OSError):
                    # The index is read again when the new code is saved.
                    self.flush()  # type: ignore[no-untyped-call]
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            with contextlib.suppress(OSError):  # a full disk, or a folder that is no longer writable
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    return Cache


def _decorator(**options: Any) -> Any:
    return lambda function: Kernel(function, options)


def vector_code(plain: Callable[..., Any], lanes: Callable[..., Any], **options: Any) -> Any:
    """A function written in LLVM's vectors, for use inside kernels; ``plain`` is the same where nothing is compiled."""

    def make() -> Any:
        from numba import config
        from numba.extending import intrinsic

        if getattr(config, "DISABLE_JIT", 0):
            return plain
        return intrinsic(**options)(lanes) if options else intrinsic(lanes)

    return Deferred(make, plain)


def _numba_prange() -> Any:
    import numba

    return numba.prange


def is_imported() -> bool:
    """Whether Numba is there already, so that a short kernel costs little more than its own compilation."""
    return "numba" in sys.modules


def cores() -> int:
    """Number of threads that parallel kernels use; Numba, if it is not there yet, need not be imported to know."""
    if is_imported():
        import numba

        return int(numba.get_num_threads())
    given = os.environ.get("NUMBA_NUM_THREADS")
    return (
        int(given)
        if given
        else len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def use_cores(number: int) -> None:
    """Let parallel kernels that this thread calls use ``number`` threads."""
    import numba

    numba.set_num_threads(number)


def on_cores(kernel: Callable[..., None], n: int, *arguments: Any) -> None:
    """Call ``kernel(start, stop, *arguments)`` on ranges that make up ``range(n)``, in as many threads as cores.

    For kernels that run for some tenths of a millisecond or longer: to wake a thread takes about 0.05 ms. Such a kernel
    needs no ``parallel=True``, which makes it compile for two to three times as long.
    """
    threads = min(cores(), n)
    if threads <= 1 or (isinstance(kernel, Kernel) and kernel.runs_as_python(arguments)):
        kernel(0, n, *arguments)
        return
    parts = min(n, 4 * threads)  # several for each, since some take longer than others
    ranges = iter([(n * i // parts, n * (i + 1) // parts) for i in range(parts)])

    def work() -> None:
        for start, stop in ranges:
            kernel(start, stop, *arguments)

    helpers = [_threads().submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:  # after Ctrl-C no thread goes on to write into arrays
        for _ in ranges:
            pass
        wait(helpers)
    for each in helpers:
        each.result()


@functools.cache
def _threads() -> ThreadPoolExecutor:
    """Threads that help the caller, started when they are first needed and kept."""
    return ThreadPoolExecutor(os.cpu_count() or 1, "fullspan")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # threads are not inherited


if TYPE_CHECKING:  # kernels are checked as Numba declares them
    from numba import njit as _compiled
    from numba import prange
else:
    _compiled = _decorator
    prange = Deferred(_numba_prange, range)

serial = _compiled(fastmath=_FAST)
"""Compile a function that runs on one core and may be called from other compiled code."""

ordered = _compiled(fastmath={"contract", "nsz"})
"""The same, for arithmetic whose order is part of its precision."""

inlined = _compiled(fastmath=_FAST, inline="always")
"""The same, written out where it is called: short functions of many arrays, whose references are not counted then."""

parallel = _compiled(fastmath=_FAST, parallel=True)
"""Compile a function whose ``prange`` loops use all cores."""

__all__ = [
    "Deferred",
    "Kernel",
    "cores",
    "inlined",
    "on_cores",
    "ordered",
    "parallel",
    "prange",
    "serial",
    "use_cores",
    "vector_code",
]
