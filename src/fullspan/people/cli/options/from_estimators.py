"""The options of ``fullspan fit``: made from the parameters of all estimators of a joint distribution."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from fullspan.people.cli.options.declarations import Parameter, from_source, parameters_of
from fullspan.people.cli.options.spellings import Spelling, spelling
from fullspan.people.cli.options.values import Unset, choices, value

NAMES = {
    "FullSpan": "full-span",
    "BoltzmannMachine": "boltzmann",
    "DecimatableBoltzmannMachine": "decimatable",
    "TruncatedBoltzmannMachine": "truncated",
    "FullSpanMixture": "mixture",
    "ChowLiuTree": "chow-liu",
    "HiddenChowLiuTree": "hidden-tree",
    "RestrictedBoltzmannMachine": "restricted",
    "DeepBoltzmannMachine": "deep",
}
"""What ``--model`` calls estimators; one that is registered later is called ``my-estimator`` for ``MyEstimator``."""
DEFAULT = "full-span"
_CLASSIFIERS = ("BoltzmannClassifier",)
"""They learn no joint distribution."""
_NOT_OPTIONS = ("verbose", "warm_start")
"""``--quiet`` says the first, and a command has no last fit to start from."""


@dataclass
class Option:
    """An option, and the parameters of the models that it sets."""

    name: str
    is_flag: bool
    is_repeated: bool
    metavars: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, tuple[str, Parameter]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def is_of_all(self) -> bool:
        """Whether it says how a table is read, which every estimator has to know."""
        name, _ = next(iter(self.parameters.values()))
        return name in from_source("fullspan.estimators.inputs.shared_parameters", "TableParameters")

    @property
    def flag(self) -> str:
        """As it is written."""
        return f"--{self.name.replace('_', '-')}"

    def help(self, model: str | None = None) -> str:
        """What it does: of one model in full, else the first sentence of the first model that has it."""
        chosen = model if model in self.parameters else next(iter(self.parameters))
        text, default = self.texts[chosen], self.parameters[chosen][1].default
        shown = text if model is not None else re.split(r"(?<=\.) (?=[A-Z])", text)[0]
        agree = len({repr(p.default) for _, p in self.parameters.values()}) == 1
        others = [] if model is not None else [name for name in self.parameters if name != chosen]
        if others and not self.is_of_all:
            shown = f"{shown.removesuffix('.')} (also {', '.join(others)})."
        says = default is not None and not isinstance(default, bool) and (agree or model is not None)
        return f"{shown}  [default: {_plain(default)}]" if says else shown


def models() -> dict[str, tuple[str, str]]:
    """Module and class of the estimator of every model, in the order in which they are shown."""
    from fullspan.estimators.registry import kinds

    homes = {name: learner.home for kind in kinds().values() for name, learner in kind.learners.items()}
    ordered = [*NAMES, *(name for name in homes if name not in NAMES and name not in _CLASSIFIERS)]
    return {NAMES.get(name) or _dashed(name): (homes[name], name) for name in ordered}


def _dashed(name: str) -> str:
    """``MyEstimator`` as ``my-estimator``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def model_of(name: str) -> tuple[str, str]:
    """Module and class of the estimator of a model.

    Raises
    ------
    typer.BadParameter : there is no such model.
    """
    known = models()
    if name not in known:
        from fullspan.data.space import did_you_mean

        hint = did_you_mean(name, list(known))
        raise typer.BadParameter(f"--model is {name!r}, which is not a model{hint}; choose one of {', '.join(known)}")
    return known[name]


def estimator_of(name: str) -> Any:
    """The class of the estimator of a model."""
    from importlib import import_module

    home, cls = model_of(name)
    return getattr(import_module(home), cls)


def options() -> dict[str, Option]:
    """All options, those of the first model first."""
    found: dict[str, Option] = {}
    for model, (home, cls) in models().items():
        for name, parameter in parameters_of(home, cls).items():
            if name not in _NOT_OPTIONS:
                own = spelling(cls, name)
                for option, text in own.options.items():
                    is_flag = option in own.flags or parameter.type == "bool"
                    one = found.setdefault(option, Option(option, is_flag, option in own.repeated))
                    one.parameters[model], one.metavars[model] = (name, parameter), _metavar(option, own, parameter)
                    one.texts[model] = text or in_words(parameter.text)
    return found


def _metavar(name: str, own: Spelling, parameter: Parameter) -> str:
    """What stands for the value in the help."""
    if name in own.metavar:
        return own.metavar[name]
    if known := choices(parameter.type):
        return "|".join(known)
    numbers = {word for word in ("int", "float") if word in parameter.type.split(" | ")}
    return "TEXT" if not numbers or "str" in parameter.type else "NUMBER" if "float" in numbers else "N"


def chosen(model: str, given: Mapping[str, Any], names: Callable[[], list[str]]) -> dict[str, Any]:
    """The parameters of a model's estimator from the options that were given.

    Raises
    ------
    typer.BadParameter : there is no such model, an option is of other models, or one that is needed is missing.
    FullspanError : a value cannot be read.
    """
    home, cls = model_of(model)
    table = options()
    for name in given:
        if model not in table[name].parameters:
            raise typer.BadParameter(
                f"{table[name].flag} is for --model {_any_of(list(table[name].parameters))}, not for --model {model}"
            )
    found: dict[str, Any] = {}
    for name, parameter in parameters_of(home, cls).items():
        own = spelling(cls, name)
        texts = {option: given[option] for option in own.options if option in given}
        if own.needed and not texts:
            raise typer.BadParameter(f"--model {model} needs {own.needed}")
        if texts and name not in _NOT_OPTIONS:
            try:
                found[name] = _read(own, parameter, texts, names)
            except Unset:
                continue
    return found


def _read(own: Spelling, parameter: Parameter, texts: Mapping[str, Any], names: Callable[[], list[str]]) -> Any:
    if own.read is not None:
        return own.read(texts, names)
    ((option, text),) = texts.items()
    return text if isinstance(text, bool) else value(option, text, parameter.type)


def column_names(data: Path, hidden: str | None) -> list[str]:
    """The names of the columns of a table, and of hidden variables."""
    from fullspan.data.relations.source import opened
    from fullspan.people.cli.options.arguments import hidden_names

    with opened(data) as relation:
        return [*(column.name for column in relation.columns), *(hidden_names(hidden) if hidden else ())]


# -- words ----------------------------------------------------------------------------------------------------


def _any_of(words: list[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def flags(model: str | None = None) -> dict[str, str]:
    """Each parameter of an estimator with its option, such as ``random_state`` with ``--seed``; of a model first."""
    known = models()
    return _flags((*([] if model is None else [known[model]]), *known.values()))


@functools.cache
def _flags(homes: tuple[tuple[str, str], ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for home, cls in homes:
        for name in parameters_of(home, cls):
            found.setdefault(name, f"--{next(iter(spelling(cls, name).options)).replace('_', '-')}")
    return found


def in_words(text: str) -> str:
    """A text of a docstring as a terminal shows it: parameters as options, without marks."""

    def code(match: re.Match[str]) -> str:
        found = re.fullmatch(r'(\w+)=?"?(\w*)"?', match[1])
        if found and found[1] in names:
            return f"{names[found[1]]} {found[2]}".rstrip()
        return match[1].strip('"')

    names = flags()
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    shown = re.sub(r"``(.+?)``", code, text)
    return shown if text.startswith("``") else shown[:1].upper() + shown[1:]


def _plain(default: Any) -> str:
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return f"{default:g}" if isinstance(default, float) else str(default)
