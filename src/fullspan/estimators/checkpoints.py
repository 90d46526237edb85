"""Long searches that can be taken up again: the best model so far in a file, written now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullspan.errors import ConvergenceWarning, FullspanError, warn
from fullspan.learn.base.reporter import announce

if TYPE_CHECKING:
    from fullspan.data import Empirical
    from fullspan.data.space import Variable
    from fullspan.model import LogLinear
    from fullspan.model.fitted import Fitted


@dataclass
class Checkpoints:
    """Passes the steps of a search on, and keeps its best model in a file now and then.

    Attributes
    ----------
    path : the file; None for no checkpoints.
    every : least seconds between two of them.
    noted : adds to a model what its file needs.
    watch : is called with every step too, if it is not None.
    """

    path: Path | None
    every: float
    resume: bool
    noted: Callable[[Fitted], Fitted]
    watch: Any
    verbose: bool
    _last: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, estimator: Any, watch: Any) -> Checkpoints:
        """Those that an estimator asks for."""
        path = None if estimator.checkpoint is None else Path(estimator.checkpoint)
        return cls(path, estimator.checkpoint_every, estimator.resume, estimator._noted, watch, estimator.verbose)

    def __call__(self, progress: Any) -> None:
        if self.watch is not None:
            self.watch(progress)
        snapshot = getattr(progress, "snapshot", None)  # parts of a model, such as a shrunken one, have none
        if self.path is not None and snapshot is not None and time.monotonic() - self._last >= self.every:
            from fullspan.estimators.registry import write_fitted

            write_fitted(self.noted(snapshot()), self.path)
            self._last = time.monotonic()

    def say(self, text: str) -> None:
        """Show what is happening."""
        announce(self.watch, text)

    def start(self, empirical: Empirical, hidden: Sequence[Variable]) -> LogLinear | None:
        """The model to start from, if there is one.

        Raises
        ------
        FullspanError : the checkpoint belongs to other data.
        """
        from fullspan.estimators.registry import read_fitted

        if not self.resume or self.path is None:
            return None
        if not self.path.exists():
            self._print(f"no checkpoint {str(self.path)!r} yet; starting afresh")
            return None
        fitted = read_fitted(self.path)
        if fitted.model.space != empirical.with_hidden(hidden).space:
            raise FullspanError(
                f"the checkpoint {str(self.path)!r} has other variables or levels than the data; "
                "leave out resume= to start afresh"
            )
        if fitted.fingerprint != empirical.fingerprint():
            raise FullspanError(
                f"the checkpoint {str(self.path)!r} was made from other data; leave out resume= to start afresh"
            )
        self._print(f"resuming from {str(self.path)!r}: {len(fitted.model.terms)} terms")
        model: LogLinear = fitted.model
        return model

    def _print(self, text: str) -> None:
        if self.verbose:
            print(text, file=sys.stderr)


@contextmanager
def restored_on_error(estimator: Any) -> Iterator[None]:
    """Put the attributes back if the block raises, a KeyboardInterrupt included.

    Attributes are bound anew and not changed in place, so that a shallow copy of them is enough.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@contextmanager
def kept_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the block, which measures a learned model: the model is worth more than its measures.

    Warns
    -----
    ConvergenceWarning : it did.
    """
    try:
        yield
    except KeyboardInterrupt:
        warn("the fit was interrupted while it was measured", ConvergenceWarning)
