"""Model files as commands need them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullspan.errors import FullspanError

if TYPE_CHECKING:
    from fullspan.model.fitted import Fitted


def any_model(path: Path) -> Any:
    """What a file holds: a ``Fitted`` model or truncated machine, a ``FittedTree`` or a ``FittedMixture``.

    Raises
    ------
    ModelFileError : the file cannot be read, or holds a machine in layers.
    """
    from fullspan.model.files import log_linear as file
    from fullspan.model.files import mixture as mixture_file
    from fullspan.model.files import tree as tree_file
    from fullspan.model.files import truncated as truncated_file
    from fullspan.model.files.strict_json import read_json

    document = read_json(path)
    if document["kind"].value == tree_file.KIND:
        return tree_file.read_tree(document)
    if document["kind"].value == mixture_file.KIND:
        return mixture_file.read_mixture(document)
    is_truncated = document["kind"].value == truncated_file.KIND
    return truncated_file.read_truncated(document) if is_truncated else file.load(document)


def shown_model(path: Path) -> Any:
    """The same with its interactions worked out, where a file of an older version has none."""
    from fullspan.learn.effects.explain import explained
    from fullspan.model.fitted import Fitted

    fitted = any_model(path)
    return explained(fitted, None) if isinstance(fitted, Fitted) else fitted


def save_model(fitted: Fitted, path: Path) -> None:
    """Write the file of a model of either kind."""
    from fullspan.model.files.log_linear import save
    from fullspan.model.files.truncated import save_truncated
    from fullspan.model.truncated import TruncatedLogLinear

    (save_truncated if isinstance(fitted.model, TruncatedLogLinear) else save)(fitted, path)


def oracle_of(fitted: Any, max_memory: int | None = None) -> Any:
    """What answers questions about a model."""
    from fullspan.model.hidden_tree import HiddenTree
    from fullspan.model.mixture import Mixture
    from fullspan.model.truncated import TruncatedLogLinear
    from fullspan.query import averaged
    from fullspan.query.mixture import MixtureOracle
    from fullspan.query.tree import TreeOracle
    from fullspan.query.truncated import TruncatedOracle

    if isinstance(fitted.model, HiddenTree):
        return TreeOracle(fitted.model)
    if isinstance(fitted.model, Mixture):
        return MixtureOracle(fitted.model)
    if isinstance(fitted.model, TruncatedLogLinear):
        return TruncatedOracle(fitted.model)
    return averaged.oracle_of(fitted.model, max_memory=max_memory, n_hidden=fitted.n_hidden)


def joint_model(path: Path) -> Any:
    """The model in a file, if it is one of all its variables.

    Raises
    ------
    ModelFileError : the file cannot be read.
    FullspanError : it is a classifier, which knows nothing about its inputs: their probabilities mean nothing.
    """
    from fullspan.estimators.joint import is_conditional

    fitted = any_model(path)
    if is_conditional(fitted):
        roles = fitted.settings.get("roles") or fitted.settings
        outputs, inputs = ", ".join(roles["outputs"]) or "its other columns", ", ".join(roles["inputs"])
        raise FullspanError(
            f"{str(path)!r} is a classifier: it knows {outputs} given {inputs}, and not how likely these are; "
            "use fullspan.load(...).predict_proba in Python, or fit the joint model with fullspan fit"
        )
    return fitted
