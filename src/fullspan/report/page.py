"""A report as one HTML file: no script, no network, every picture inline."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from typing import Any

from fullspan.estimators.comparison import HEADINGS
from fullspan.estimators.pictures import information, interaction_graph, learning, reliability, weights
from fullspan.model.mixture import FittedMixture
from fullspan.picture import svg
from fullspan.report.content import MAX_LISTED, Content, VariableShares
from fullspan.report.style import CSS

SHOWN = 25
"""Interactions in the open part of their table."""
MAX_ROWS = 500
"""Interactions in the table."""


def page(content: Content) -> str:
    """The whole file."""
    sections = [section for section in _sections(content) if section is not None]
    links = "".join(f'<a href="#{key}">{html.escape(title)}</a>' for key, title, _ in sections)
    body = "".join(
        f'<section id="{key}"><h2>{html.escape(title)}</h2>{text}</section>' for key, title, text in sections
    )
    title = html.escape(content.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title} – Fullspan report</title><style>{CSS}</style></head><body>"
        f'<header><h1>{title}</h1>{_lead(content)}<nav aria-label="Contents">{links}</nav></header><main>'
        f"{_facts(content)}{_caveats(content)}{body}</main>{_footer(content)}</body></html>\n"
    )


def _sections(c: Content) -> Iterator[tuple[str, str, str] | None]:
    if isinstance(c.estimator.fitted_, FittedMixture):
        yield "components", "What is mixed", _components(c.estimator.fitted_)
    else:
        yield "interactions", "Which interactions were found", _interactions(c)
    yield "data", "What the data are", _data(c)
    if c.information:
        yield "information", "How much each order explains", _information(c)
    yield "fit", "Where the model fits worst", _fit(c)
    yield "prediction", "How well it predicts", _prediction(c)
    if (curve := learning(c.estimator)) is not None:
        yield "learning", "How it was learned", _figure(svg.chart(curve), _learning_words(c))


# -- the top --------------------------------------------------------------------------------------------------


def _lead(c: Content) -> str:
    space, fitted = c.estimator.space_, c.estimator.fitted_
    rows = "A model" if fitted.status == "given" else f"Learned from {fitted.n_rows:,} rows:"
    return (
        f'<p class="lead">{rows} an exact probability distribution of {len(space)} variables. '
        "Every probability in this report is exact; nothing is sampled.</p>"
    )


def _facts(c: Content) -> str:
    fitted, space = c.estimator.fitted_, c.estimator.space_
    facts = [("rows", f"{fitted.total:,.6g}"), ("variables", f"{len(space):,}"), ("states", _power(space.n_states))]
    if hasattr(c.estimator, "terms_"):
        facts += [("terms", f"{len(c.estimator.terms_):,}")]
        facts += [("KL(data ‖ model)", _nats(fitted.divergence)), ("description", _nats(fitted.description_length, 0))]
    else:
        facts += [("parameters", f"{c.estimator.n_parameters_:,}"), ("log-likelihood", _nats(fitted.log_likelihood))]
    items = "".join(f"<div><dt>{k}</dt><dd>{html.escape(v)}</dd></div>" for k, v in facts)
    return f'<dl class="facts">{items}</dl>'


def _nats(value: float, digits: int = 3) -> str:
    return "–" if math.isnan(value) else f"{value:,.{digits}f} nats"


def _power(n: int) -> str:
    return f"{n:,}" if n < 10**7 else f"2^{math.log2(n):.4g}" if n.bit_length() < 1000 else f"2^{n.bit_length() - 1}"


def _caveats(c: Content) -> str:
    if not c.caveats:
        return ""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in c.caveats)
    return (
        f'<aside class="caveats" aria-label="To keep in mind"><strong>To keep in mind</strong><ul>{items}</ul></aside>'
    )


# -- sections -------------------------------------------------------------------------------------------------


def _components(fitted: FittedMixture) -> str:
    model = fitted.model
    note = (
        f"<p>A hidden variable with {len(model.shares)} levels; given its level, each variable depends on at most "
        f"{model.width} others. The graphs differ from level to level, so there are no terms to list.</p>"
    )
    order = sorted(range(len(model.shares)), key=lambda h: -model.shares[h])
    rows = [
        ([f"level {place + 1}", f"{model.shares[h]:.4f}", f"{len(model.components[h].values):,}"], model.shares[h])
        for place, h in enumerate(order)
    ]
    return note + _folded(("hidden level", "share", "table entries"), rows)


def _interactions(c: Content) -> str:
    graph = interaction_graph(c.estimator)
    picture = svg.graph(graph, f"Interaction graph of {len(graph.names)} variables")
    n_nodes, n_edges, n_groups = graph.left_out
    rest = [
        f"{n:,} weaker {what}" for n, what in ((n_nodes, "variables"), (n_edges, "pairs"), (n_groups, "groups")) if n
    ]
    keys = (
        '<span class="key"></span>go together &ensp; <span class="key against"></span>go against each other &ensp; '
        '<span class="key group"></span>three variables or more. Thicker lines save more nats.'
    )
    caption = keys + (f" Not drawn: {', '.join(rest)}." if rest else "")
    if not hasattr(c.estimator, "terms_"):
        edges = sorted(c.estimator.edges_, key=lambda edge: -edge[2])
        top = edges[0][2] if edges else 1.0
        rows = [([f"{a} – {b}", f"{nats:.4f}"], nats / top) for a, b, nats in edges[:MAX_ROWS]]
        return _figure(picture, caption, wide=True) + _folded(("pair", "mutual information, nats"), rows)
    note = (
        "<p>A term says which values go together beyond what all other terms explain. “Odds ×2” doubles the "
        "odds of the "
        "first value. <em>Nats saved</em> is how much longer the description of the data would be without the term.</p>"
    )
    terms = c.estimator.terms_
    top = max((row.nats_saved for row in terms if math.isfinite(row.nats_saved)), default=1.0) or 1.0
    rows = [
        (
            [row.words, str(row.order), _number(row.weight), _number(row.standard_error), _number(row.nats_saved, 1)],
            row.nats_saved / top,
        )
        for row in terms[:MAX_ROWS]
    ]
    head = ("term", "order", "weight", "std. error", "nats saved")
    chart = _figure(
        svg.bars(weights(c.estimator)), "The strongest terms. Blue goes with, orange against, grey: other orders."
    )
    return note + _figure(picture, caption, wide=True) + _folded(head, rows) + (chart if len(terms) else "")


def _data(c: Content) -> str:
    what = (
        "The rows are those the model was learned from."
        if c.is_training
        else "The rows shown are not those the model was learned from."
        if c.data is not None
        else "No rows were given; the shares are those of the model."
    )
    rows = "".join(_variable(shares, c.data is not None) for shares in c.shares)
    head = '<th class="t">variable</th><th class="t">levels, and how often each occurs</th>'
    head += "<th>missing</th><th>largest gap to the model</th>" if c.data is not None else ""
    more = len(c.estimator._oracle.visible) - len(c.shares)
    rest = f"<p>The first {MAX_LISTED} variables of {more + MAX_LISTED:,}.</p>" if more else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<p>{what}</p><div class="table" tabindex="0">{table}</div>{rest}'


def _variable(s: VariableShares, with_data: bool) -> str:
    shares = s.expected if s.observed is None else s.observed
    parts = "".join(_level(str(level), p) for level, p in zip(s.variable.levels, shares.tolist(), strict=True))
    cells = f'<td class="t">{html.escape(s.variable.name)}</td><td class="w"><div class="levels">{parts}</div></td>'
    if with_data and s.observed is not None:
        gap = float(abs(s.observed - s.expected).max())
        cells += f"<td>{f'{s.missing:.1%}' if s.missing > 0 else '–'}</td><td>{gap:.1%}</td>"
    return f"<tr>{cells}</tr>"


def _level(level: str, share: float) -> str:
    title, text = html.escape(f"{level}: {share:.1%}"), html.escape(f"{level} {share:.0%}")
    return f'<span style="width:{100 * share:.2f}%" title="{title}">{text}</span>'


def _information(c: Content) -> str:
    assert c.information is not None
    return _figure(
        svg.bars(information(c.information)),
        "Distance of the model from the uniform distribution, split by order: what the terms of each order "
        "add to all lower "
        "ones. The parts add up to the whole.",
    )


def _fit(c: Content) -> str:
    if c.data is None:
        return "<p>No rows were given; <code>--data FILE</code> compares counts with what the model expects.</p>"
    if c.worst is None or not c.worst.cells:
        return "<p>There are too many variables to look at every pair of them.</p>"
    largest = max(abs(cell.residual) for cell in c.worst.cells)
    rows = []
    for cell in c.worst.cells:
        text = ", ".join(f"{name}={level}" for name, level in cell.levels.items())
        rows.append(
            (
                [text, f"{cell.observed:g}", f"{cell.expected:.1f}", f"{cell.residual:+.2f}"],
                abs(cell.residual) / largest,
            )
        )
    verdict = (
        "so the worst cells here are no worse than chance would make them."
        if largest < c.worst.by_chance
        else "so the first of these are real misfits."
    )
    note = (
        f"<p>Of all {c.worst.n_cells:,} cells of margins of up to {c.worst.largest_order} variables, these are "
        "farthest from "
        f"what the model expects. Residuals have about unit variance; among so many, ±{c.worst.by_chance:.1f} "
        "is expected by "
        f"chance, {verdict}</p>"
    )
    return note + _table(("cell", "observed", "expected", "residual"), rows)


def _prediction(c: Content) -> str:
    if c.comparison is None:
        return f"<p>{html.escape(c.held_out)}</p>"
    found = c.comparison.calibrations["this model"]
    keep = [0, 1, 2, 3, 4, 5, 7]
    rows = [([row.cells()[k] for k in keep], None) for row in c.comparison]
    best = [row.name == "this model" for row in c.comparison]
    table = _table([HEADINGS[k] for k in keep], rows, best)
    notes = "".join(f"<p>{html.escape(note)}.</p>" for note in c.comparison.notes()[1:])
    words = (
        "Each cell of a held-out row is predicted from the rest of its row. On the diagonal, what was said "
        "with 70 % came "
        f"true in 70 % of cases; bars are two standard errors, larger dots hold more forecasts. Mean distance from the "
        f"diagonal: {found.error:.3f}."
    )
    return (
        f"<p>Held-out rows: {html.escape(c.held_out)}. Nats per row: higher is better.</p>{table}{notes}"
        f'<div class="pair">{_figure(svg.chart(reliability(found)), "")}<p>{html.escape(words)}</p></div>'
    )


def _learning_words(c: Content) -> str:
    fitted = c.estimator.fitted_
    last = fitted.history[-1]
    return (
        "Description length in nats per row beyond the entropy of the data, after each of "
        f"{len(fitted.history):,} steps; "
        f"{last.seconds:.1f} s, {html.escape(fitted.status)}."
    )


# -- parts ----------------------------------------------------------------------------------------------------


def _figure(picture: str, caption: str, *, wide: bool = False) -> str:
    scrolls = ' class="wide" tabindex="0"' if wide else ""
    return f"<figure{scrolls}>{picture}{f'<figcaption>{caption}</figcaption>' if caption else ''}</figure>"


_Rows = Sequence[tuple[Sequence[str], float | None]]


def _folded(head: Sequence[str], rows: _Rows) -> str:
    """The first rows, and the others to unfold."""
    text = _table(head, rows[:SHOWN])
    if len(rows) > SHOWN:
        text += f"<details><summary>All {len(rows):,}</summary>{_table(head, rows[SHOWN:])}</details>"
    return text


def _table(head: Sequence[str], rows: _Rows, best: Sequence[bool] = ()) -> str:
    """First column text, others numbers, then a bar where there is one."""
    bars = any(bar is not None for _, bar in rows)
    names = "".join(
        f'<th scope="col"{" class=t" if j == 0 else ""}>{html.escape(name)}</th>' for j, name in enumerate(head)
    )
    body = []
    for k, (cells, bar) in enumerate(rows):
        text = "".join(f"<td{' class=t' if j == 0 else ''}>{html.escape(cell)}</td>" for j, cell in enumerate(cells))
        if bars:
            share = bar if bar is not None and math.isfinite(bar) else 0.0
            text += f'<td class="w"><span class="bar" style="width:{100 * max(share, 0.0):.1f}%"></span></td>'
        body.append(f"<tr{' class=best' if best and best[k] else ''}>{text}</tr>")
    extra = "<td></td>" if bars else ""
    head_row, rows_text = f"<tr>{names}{extra}</tr>", "".join(body)
    return f'<div class="table" tabindex="0"><table><thead>{head_row}</thead><tbody>{rows_text}</tbody></table></div>'


def _number(value: float, digits: int = 3) -> str:
    return "–" if math.isnan(value) else f"{value:+}" if math.isinf(value) else f"{value:.{digits}f}"


def _footer(c: Content) -> str:
    fitted = c.estimator.fitted_
    settings: dict[str, Any] = {k: v for k, v in fitted.settings.items() if v is not None and not isinstance(v, dict)}
    shown = ", ".join(f"{k}={v}" for k, v in settings.items() if len(str(v)) < 60)
    return (
        f"<footer><p>Fullspan {html.escape(fitted.version)}. Settings: <code>{html.escape(shown)}</code></p>"
        f"<p>Data fingerprint <code>{html.escape(fitted.fingerprint[:16])}</code>. Standard errors do not know "
        "that the terms were chosen with the same data. Weights describe association, not cause.</p></footer>"
    )
