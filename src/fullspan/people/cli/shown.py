"""A fitted model of any kind in a terminal, or as JSON."""

from __future__ import annotations

from typing import Any

import typer

STRONGEST = 5
"""Interactions or edges shown after a fit."""


def print_fit(estimator: Any, more: dict[str, Any], *, as_json: bool) -> None:
    """Print what was fitted; ``more`` has the file and the seconds."""
    from fullspan.people.cli.summary import print_json, print_shown

    shown = estimator._shown(STRONGEST, whole=False)
    if as_json:
        print_json({**more, **shown.facts})
        return
    print_shown(shown)
    typer.echo(f"fitted in {more['seconds']:.1f} s, written to {more['file']}")
