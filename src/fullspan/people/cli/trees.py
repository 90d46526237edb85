"""Trees and mixtures in a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from fullspan.model.hidden_tree import FittedTree
    from fullspan.model.mixture import FittedMixture


def show_tree(fitted: FittedTree, top: int | None, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """Size, likelihood and the edges of a tree, those of most mutual information first."""
    from fullspan.estimators.explain.endings import ending
    from fullspan.estimators.explain.limits import facts as limits
    from fullspan.estimators.explain.limits import likelihood_line
    from fullspan.people.cli.summary import closing_lines, print_json, print_rows

    tree = fitted.model
    pairs = zip(tree.edges, tree.order[1:], strict=True)
    edges = sorted(((a, b, float(fitted.mutual_information[i])) for (a, b), i in pairs), key=lambda e: -e[2])
    facts: dict[str, Any] = {
        "estimator": fitted.settings.get("estimator", "ChowLiuTree"),
        "n_rows": fitted.n_rows,
        "n_dropped": fitted.n_dropped,
        "total": fitted.total,
        "n_variables": len(tree.space),
        "hidden_states": 0 if tree.is_observed else tree.n_states,
        "n_parameters": tree.n_parameters,
        "log_likelihood": fitted.total * fitted.log_likelihood,
        "validation": fitted.validation,
        "status": fitted.status,
        "ending": ending(fitted)._asdict(),
        **limits(fitted),
    }
    if as_json:
        variables = [
            {"name": v.name, "levels": list(v.levels), "edges": v.edges, "ordered": v.ordered}
            for v in tree.space.variables
        ]
        listed = [{"parent": a, "child": b, "mutual_information": m} for a, b, m in edges[:top]]
        print_json({**(more or {}), **facts, "variables": variables, "tree": listed})
        return
    hidden = f", hidden nodes of {tree.n_states} states" if facts["hidden_states"] else ""
    typer.echo(
        f"{facts['estimator']}: {fitted.n_rows:,} rows, {len(tree.space):,} variables{hidden}, "
        f"{tree.n_parameters:,} parameters"
    )
    typer.echo("\n".join([f"{likelihood_line(fitted)} ({fitted.status})", *closing_lines(fitted)]))
    print_rows(("edge", "nats"), [(f"{a} – {b}", f"{m:.4f}") for a, b, m in edges[:top]])
    if top is not None and len(edges) > top:
        typer.echo(f"... and {len(edges) - top} more")


def show_mixture(fitted: FittedMixture, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """Size and likelihood of a mixture, and the shares of its components."""
    from fullspan.estimators.explain.endings import ending
    from fullspan.estimators.explain.limits import facts as limits
    from fullspan.estimators.explain.limits import likelihood_line
    from fullspan.people.cli.summary import closing_lines, print_json

    model = fitted.model
    facts: dict[str, Any] = {
        "estimator": fitted.settings.get("estimator", "FullSpanMixture"),
        "n_rows": fitted.n_rows,
        "n_dropped": fitted.n_dropped,
        "total": fitted.total,
        "n_variables": len(model.space),
        "n_components": len(model.shares),
        "width": model.width,
        "n_parameters": model.n_parameters,
        "log_likelihood": fitted.total * fitted.log_likelihood,
        "validation": fitted.validation,
        "status": fitted.status,
        "ending": ending(fitted)._asdict(),
        **limits(fitted),
    }
    if as_json:
        variables = [
            {"name": v.name, "levels": list(v.levels), "edges": v.edges, "ordered": v.ordered}
            for v in model.space.variables
        ]
        print_json({**(more or {}), **facts, "variables": variables, "shares": model.shares.tolist()})
        return
    typer.echo(
        f"{facts['estimator']}: {fitted.n_rows:,} rows, {len(model.space):,} variables, {len(model.shares)} components "
        f"of width up to {model.width}, {model.n_parameters:,} parameters"
    )
    typer.echo("\n".join([f"{likelihood_line(fitted)} ({fitted.status})", *closing_lines(fitted)]))
    if not math.isnan(fitted.validation):
        typer.echo(f"rows held out: {fitted.validation:.4f} nats per row")
