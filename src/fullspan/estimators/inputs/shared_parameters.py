"""Parameters that estimators share, declared and documented once: how a table is read, memory, seeds, progress.

An estimator is a dataclass on top of these: its own fields are its own parameters, and ``__init__`` is generated. Its
docstring describes what is its own; :class:`Documented` adds the shared parameters to it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from fullspan.data.space import Level  # the command line reads this module for its help, without NumPy

_SECTION = re.compile(r"(?<=\n)Parameters\n-+\n(?P<items>(?:.*\n)*?)(?=\n|\Z)")
_ITEM = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<text>.*(?:\n    .*)*)", re.MULTILINE)


class Documented:
    """A class whose docstring also describes the parameters of its bases, in its section of parameters."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__doc__" in vars(cls) and cls.__doc__ is not None:
            cls.__doc__ = _with_inherited(inspect.cleandoc(cls.__doc__), cls)


def documented(docstring: str | None) -> dict[str, str]:
    """Each parameter of a docstring with its text, as it is written there.

    Examples
    --------
    >>> documented("A model.\\n\\nParameters\\n----------\\na, b : both.\\n")
    {'a': 'both.', 'b': 'both.'}
    """
    section = _SECTION.search(inspect.cleandoc(docstring or "") + "\n")
    items = _ITEM.finditer(section["items"]) if section else ()
    return {name: item["text"] for item in items for name in item["names"].split(", ")}


def _with_inherited(own: str, cls: type) -> str:
    """The docstring, with the parameters that only bases describe at the end of its section."""
    text = own + "\n"
    section = _SECTION.search(text)
    if section is None:
        return own
    known = set(documented(own))
    lines = []
    for base in cls.__mro__[1:]:
        for name, words in documented(vars(base).get("__doc__")).items():
            if name not in known:
                known.add(name)
                lines.append(f"{name} : {words}\n")
    return (text[: section.end()] + "".join(lines) + text[section.end() :]).rstrip("\n")


@dataclass(kw_only=True, eq=False, repr=False)
class TableParameters(Documented):
    """How a table is read.

    Parameters
    ----------
    missing : what to do with missing values: report an ``"error"``; ``"drop"`` incomplete rows; make them a
        ``"level"`` of their own; or ``"em"``: maximise the likelihood of the observed values of all rows.
    columns : the columns to use, in order; all by default.
    bins : cut numeric columns: a number of quantile bins, or ``{name: k | ("width", k) | edges}``.
    levels : ``{name: levels in order}`` for columns whose levels should not be inferred.
    count_column : the column that holds the count of each row.
    max_levels : maximum number of levels of a column.
    na_values : texts that mean a missing value, as a list for all columns or ``{column: texts}``; ``[]`` if only empty
        cells are missing. By default ``?``, ``NA``, ``N/A``, ``NaN``, ``null`` and ``None`` in CSV and TSV files.
    handle_unknown : what to do with a value that the model has not seen: report an ``"error"``, or treat it as
        ``"missing"``.
    """

    missing: Literal["error", "drop", "level", "em"] = "error"
    columns: Sequence[str | int] | None = None
    bins: Any = None
    levels: Mapping[str, Sequence[Level]] | None = None
    count_column: str | None = None
    max_levels: int = 64
    na_values: Any = None
    handle_unknown: Literal["error", "missing"] = "error"


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters(TableParameters):
    """What every estimator has.

    Parameters
    ----------
    verbose : show progress on standard error.
    """

    verbose: bool = False

    def _name_columns(self, names: Sequence[str], kind: str) -> None:
        """Keep the columns learned from as scikit-learn has them; of the kinds of tables arrays have no names."""
        import numpy as np

        self._kind, self.n_features_in_ = kind, len(names)
        if kind != "array":
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class Memory(Documented):
    """For estimators that can keep to a limit of memory.

    Parameters
    ----------
    max_memory : memory limit in bytes; the free memory by default.
    """

    max_memory: int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class Seed(Documented):
    """For estimators that draw random numbers.

    Parameters
    ----------
    random_state : seed or random generator.
    """

    random_state: Any = None
