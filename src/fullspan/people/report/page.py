"""A report as one HTML file: no script, no network, every picture inline."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from fullspan.display import power_of_two
from fullspan.estimators.compare.comparison import ALL, HEADINGS, SOME, are_repeated, unjudged_words
from fullspan.estimators.explain.interactions import is_searched
from fullspan.estimators.explain.limits import (
    is_dense,
    likelihood_line,
    limit_line,
    mean_log_likelihood,
    misfit_words,
    row_words,
)
from fullspan.estimators.explain.pictures import (
    effects,
    information,
    interaction_graph,
    is_saved,
    learning,
    measure_of,
    reliability,
)
from fullspan.model.mixture import FittedMixture
from fullspan.people.report.caveats import has_intervals, interaction_notes
from fullspan.people.report.content import MAX_LISTED, THIS, Content, VariableShares
from fullspan.people.report.lead import effect_words, found, joined, known_fit, leaves_out, predicts
from fullspan.people.report.parts import figure, folded, sentence, shares, table
from fullspan.people.report.style import CSS
from fullspan.pictures import svg
from fullspan.pictures.legend import ROLES
from fullspan.query.margins import LEAST_COUNT, RARE, WorstCells, cell_words

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
        f"{_facts(content)}{_exact(content)}{_caveats(content)}{body}</main>{_footer(content)}</body></html>\n"
    )


def _sections(c: Content) -> Iterator[tuple[str, str, str] | None]:
    called = c.estimator._links().called
    if c.strongest:
        yield "strongest", f"The strongest {called}s", _strongest(c)
    yield "interactions", f"All {called}s", _interactions(c)
    yield "prediction", "How well it predicts", _prediction(c)
    yield "fit", "Where the model fits worst", _fit(c)
    if c.estimator._is_mixed:
        yield "components", "What is mixed", _components(c.estimator.fitted_)
    yield "data", "What the data are", _data(c)
    if c.information:
        yield "information", "How much each order explains", _information(c)
    if (curve := learning(c.estimator)) is not None:
        yield (
            "learning",
            "How it was learned",
            figure(svg.chart(curve), _learning_words(c), narrow=svg.chart(curve, narrow=True)),
        )


# -- the top --------------------------------------------------------------------------------------------------


def _lead(c: Content) -> str:
    """One paragraph: what was found, how well it predicts, what it leaves out."""
    parts = {"What was found": found, "How well it predicts": predicts, "What it leaves out": leaves_out}
    said = (f"<strong>{name}.</strong> {html.escape(' '.join(words(c)))}" for name, words in parts.items())
    return f'<p class="lead">{" ".join(said)}</p>'


def _exact(c: Content) -> str:
    rows = "A model:" if c.estimator.fitted_.status == "given" else f"Learned from {row_words(c.estimator.fitted_)}:"
    return (
        f'<p class="exact">{rows} a probability distribution of {len(c.estimator.space_)} variables. Answers are exact '
        f"under the model{_distance(c)}</p>"
    )


def _distance(c: Content) -> str:
    """How far the model is from the data, the end of a sentence."""
    fitted, said = c.estimator.fitted_, []
    if fitted.status != "given":
        said.append(likelihood_line(fitted))
    if (line := limit_line(fitted)) is not None:
        said.append(line)
    elif c.misfit is not None:
        said.append(misfit_words(asdict(c.misfit)))
    parts = "".join(f" {html.escape(sentence(text))}." for text in said)
    return f"; how far the model is from the data is measured separately.{parts}" if parts else "."


def _facts(c: Content) -> str:
    fitted, space = c.estimator.fitted_, c.estimator.space_
    given = fitted.status == "given"
    facts = [
        *([] if given else [("rows", f"{fitted.total:,.10g}")]),
        ("variables", f"{len(space):,}"),
        ("states", power_of_two(space.n_states)),
    ]
    if c.estimator._has_terms:
        facts += [("terms", f"{c.estimator.n_terms_:,}")]
        if given:
            return _tiles(facts)
        if is_dense(fitted):
            facts += [("KL(data ‖ model)", _nats(fitted.divergence))]
        else:
            facts += [("log-likelihood per row", _nats(mean_log_likelihood(fitted)))]
        facts += [("description", _nats(fitted.description_length, 0))]
    else:
        facts += [("parameters", f"{c.estimator.n_parameters_:,}")]
        facts += [] if given else [("log-likelihood per row", _nats(fitted.log_likelihood))]
    return _tiles(facts)


def _tiles(facts: list[tuple[str, str]]) -> str:
    items = "".join(f"<div><dt>{k}</dt><dd>{html.escape(v)}</dd></div>" for k, v in facts)
    return f'<dl class="facts">{items}</dl>'


def _nats(value: float, digits: int = 3) -> str:
    return "–" if math.isnan(value) else f"{value:,.{digits}f} nats"


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
        f"{model.width} {'other' if model.width == 1 else 'others'}. The graphs differ from level to level.</p>"
    )
    order = sorted(range(len(model.shares)), key=lambda h: -model.shares[h])
    most = float(model.shares.max())
    rows = [
        (
            [f"level {place + 1}", f"{model.shares[h]:.4f}", f"{model.components[h].n_parameters:,}"],
            model.shares[h] / most,
        )
        for place, h in enumerate(order)
    ]
    return note + folded(("hidden level", "share", "table entries"), rows)


def _strongest(c: Content) -> str:
    """The first interactions as pictures, and how to read them."""
    cards = []
    for row, picture in c.strongest:
        words = f"{sentence(effect_words(row))}." if row.effects else ""
        note = f"<p>{html.escape(words)}</p>" if words else ""
        name = html.escape(joined(row.variables))
        cards.append(f'<div class="card"><h3>{name}</h3>{note}{shares(picture, ROLES[row.direction])}</div>')
    data = c.data is not None
    key = '<span><i class="model"></i>model</span>'
    key += '<span><i class="data"></i>data, with 95 % interval of the share</span>' if data else ""
    what = "the rows and the model" if data else "the model"
    odds = any(row.kind == "odds ratio" and row.effects for row, _ in c.strongest)
    held = "; an odds ratio holds all others fixed" if odds else ""
    note = f"Shares are those of {what} as a whole, with no other variable held fixed{held}."
    return f'<p class="notes">{note}</p><div class="key">{key}</div>{"".join(cards)}'


def _interactions(c: Content) -> str:
    graph, found = interaction_graph(c.estimator), c.interactions
    n_nodes, n_edges, n_groups = graph.left_out
    rest = [
        f"{n:,} weaker {what}" for n, what in ((n_nodes, "variables"), (n_edges, "pairs"), (n_groups, "groups")) if n
    ]
    title = f"Interaction graph of {len(graph.names)} variables"
    drawing, narrow = svg.graph(graph, title), svg.graph(interaction_graph(c.estimator, narrow=True), title)
    drawn = figure(drawing, f"Not drawn: {', '.join(rest)}." if rest else "", tall=True, narrow=narrow)
    note = f'<p class="notes">{" ".join(interaction_notes(c.estimator, found[:MAX_ROWS]))}</p>'
    strengths = [row.nats_saved if found.has_nats else row.size for row in found]
    top, listed_rows = max(filter(math.isfinite, strengths), default=1.0) or 1.0, found[:MAX_ROWS]
    rows = [(list(cells), strength / top) for strength, cells in zip(strengths, listed_rows.cells(), strict=False)]
    head = list(listed_rows.headings)
    if not is_saved(c.estimator):  # another number, and no approximation of its own
        head[-1] = measure_of(c.estimator)
        rows = [([*cells[:-1], cells[-1].removeprefix("~")], bar) for cells, bar in rows]
    listed = folded(head, rows, [ROLES[one.direction] for one in found[:MAX_ROWS]])
    chart = ""
    if any(one.effects for one in found):
        caption = "The effects of the strongest interactions, on the scale of logarithms."
        picture = effects(c.estimator)
        chart = figure(svg.bars(picture), caption, tall=True, narrow=svg.bars(picture, narrow=True))
    return drawn + note + listed + chart


def _learned(c: Content) -> str:
    """What the rows are to a model that was learned from a good part of them."""
    share, repeats = c.judged.share, c.judged.repeats
    if are_repeated(repeats):
        which = "The distinct rows shown" if share >= ALL else f"About {share:.0%} of the rows shown"
        return f"{which} equal rows the model was learned from, but occur about {repeats:.2g} times as often."
    if share < ALL:
        return f"About {share:.0%} of the rows shown are those the model was learned from."
    if c.judged.is_whole:
        return "The rows are those the model was learned from."
    return f"The rows are among the {c.estimator.fitted_.total:,.6g} the model was learned from."


def _data(c: Content) -> str:
    what = (
        _learned(c)
        if c.training_share >= SOME
        else "No rows were given; the shares are those of the model."
        if c.data is None
        else "The model was not learned from rows."
        if c.estimator.fitted_.status == "given"
        else f"{sentence(unjudged_words(c.judged.unjudged))}."
        if math.isnan(c.training_share)
        else "The model was not learned from these rows."
    )
    rows = "".join(_variable(shares, c.data is not None) for shares in c.shares)
    head = '<th class="t">variable</th><th class="t">levels, and how often each occurs</th>'
    head += "<th>missing</th><th>largest difference from the model</th>" if c.data is not None else ""
    more = len(c.estimator.distribution_.visible) - len(c.shares)
    rest = f"<p>The first {MAX_LISTED} variables of {more + MAX_LISTED:,}.</p>" if more else ""
    listed = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<p>{what}</p><div class="table" tabindex="0">{listed}</div>{rest}'


def _variable(s: VariableShares, with_data: bool) -> str:
    shares = s.expected if s.observed is None else s.observed
    levels = list(zip(map(str, s.variable.levels), shares.tolist(), strict=True))
    ramp = s.variable.ordered and len(levels) > 2
    parts = "".join(_level(level, p, k / (len(levels) - 1) if ramp else None) for k, (level, p) in enumerate(levels))
    listed = html.escape(", ".join(f"{level} {percent(p)}" for level, p in levels))
    cells = f'<td class="t">{html.escape(s.variable.name)}</td>'
    cells += f'<td class="w named"><div class="levels{" ordered" * ramp}">{parts}</div>{listed}</td>'
    if with_data and s.observed is not None:
        most = float(abs(s.observed - s.expected).max())
        missing = f"{s.missing:.1%}" if s.missing > 0 else "–"
        cells += f'<td data-h="missing">{missing}</td><td data-h="largest difference from the model">{most:.1%}</td>'
    return f"<tr>{cells}</tr>"


def percent(share: float) -> str:
    """``60%``, and ``0.4%`` of a level that a whole number would say never, or always, occurs."""
    rest = 100 * min(share, 1 - share)
    if rest >= 1 or rest <= 0:
        return f"{share:.0%}"
    if rest < 0.01:
        return "<0.01%" if share < 0.5 else ">99.99%"
    return f"{share:.{-math.floor(math.log10(rest))}%}"


def _level(level: str, share: float, place: float | None) -> str:
    """A part of a bar; of ordered levels from pale to full by their place from 0 to 1."""
    shade = "" if place is None else f";opacity:{0.25 + 0.75 * place:.2f}"
    return f'<span style="width:{100 * share:.2f}%{shade}" title="{html.escape(f"{level}: {share:.1%}")}"></span>'


def _information(c: Content) -> str:
    assert c.information is not None
    return figure(
        svg.bars(picture := information(c.information)),
        "Distance of the model from the uniform distribution, split by order: what each order of "
        "interaction adds to all lower ones. The parts add up to the whole.",
        narrow=svg.bars(picture, narrow=True),
    )


def _fit(c: Content) -> str:
    if c.data is None:
        return "<p>No rows were given; <code>--data FILE</code> compares counts with what the model expects.</p>"
    if c.worst is None:
        return "<p>There are too many variables to look at every pair of them.</p>"
    if not c.worst.cells:
        return f"<p>{_no_worst(c.worst)}</p>"
    largest = max(abs(cell.residual) for cell in c.worst.cells)
    rows = []
    for cell in c.worst.cells:
        text = cell_words(cell)
        rows.append(
            (
                [text, f"{cell.observed:g}", f"{cell.expected:.1f}", f"{cell.residual:+.2f}"],
                abs(cell.residual) / largest,
            )
        )
    note = "".join(f"<p>{text}</p>" for text in _worst_notes(c.worst, c.is_training))
    return note + table(("cell", "observed", "expected", "residual"), rows)


def _no_worst(worst: WorstCells) -> str:
    """Why no cell is listed."""
    margins = f"margins of up to {worst.largest_order} variables" if worst.largest_order > 1 else "the one variable"
    if not worst.n_cells:
        return f"No cell is judged: in {margins} every expected count is below {LEAST_COUNT:g}."
    return f"Nowhere: in all {worst.n_cells:,} cells of {margins} the model expects the counts of these rows."


def _worst_notes(worst: WorstCells, is_training: bool) -> Iterator[str]:
    """Which cells are listed, and whether the least probable of them may be chance."""
    rare = (
        f" {worst.n_rare:,} more have an expected count below {LEAST_COUNT:g} and are not judged."
        if worst.n_rare
        else ""
    )
    yield (
        f"Cells of margins of up to {worst.largest_order} variables that are farthest from what the model expects, of "
        f"{worst.n_cells:,}.{rare} At most one cell of each margin is listed, and none that contains a cell listed "
        "before it."
    )
    fitted = ", or less in rows that the weights were fitted to, as here" if is_training else ""
    yield f"Under a right model residuals have a variance of about 1{fitted}."
    if worst.least is None:
        return
    chance, cell = worst.by_chance(), worst.least
    verdict = (
        "is no farther than chance makes it"
        if chance > 0.5
        else "may be chance"
        if chance > RARE
        else "is farther than chance makes it"
    )
    yield (
        f"The least probable cell is {html.escape(cell_words(cell))}: {cell.observed:g} rows where "
        f"{cell.expected:.1f} are expected; a count so far off has a binomial probability of {worst.tail:.2g}. Among "
        f"{worst.n_cells:,} independent cells, one as improbable has a probability of at most {chance:.2g}: this one "
        f"{verdict}."
    )


def _prediction(c: Content) -> str:
    if c.comparison is None:
        said = [f"No rows were held out: {c.why_not_held_out}.", *known_fit(c.estimator)]
        return "".join(f"<p>{html.escape(text)}</p>" for text in said)
    found = c.comparison.calibrations[THIS]
    keep = [0, 1, 2, 3, 4, 5, 7, 8]
    rows = [([row.cells()[k] for k in keep], None) for row in c.comparison]
    best = [row.name == THIS for row in c.comparison]
    ranks = table([HEADINGS[k] for k in keep], rows, best)
    notes = "".join(f"<p>{html.escape(note)}.</p>" for note in c.comparison.notes(descriptions=False)[1:])
    opening = f"<p>{html.escape(sentence(c.held_out))}. Nats per row: higher is better.</p>{ranks}{notes}"
    if not len(found.weights):
        return f"{opening}<p>No cell could be predicted: the model holds all of these rows impossible.</p>"
    words = (
        "Each cell of a row is predicted from the rest of its row. On the diagonal, what was said "
        "with 70 % came "
        f"true in 70 % of cases; bars are two standard errors, larger dots hold more forecasts. Mean distance from the "
        f"diagonal: {found.error:.3f}. A model that always predicts the base rate lies on the diagonal too; the skill, "
        f"{found.skill:.3f} here, is 1 for perfect predictions and 0 for no better than the base rates of the columns."
    )
    return f'{opening}<div class="pair">{figure(svg.chart(reliability(found)), "")}<p>{html.escape(words)}</p></div>'


def _learning_words(c: Content) -> str:
    fitted = c.estimator.fitted_
    last = fitted.history[-1]
    penalty = " plus the penalty" if fitted.settings.get("l1") or fitted.settings.get("l2") else ""
    if not c.estimator._has_terms:
        held_out = c.estimator._is_mixed and not math.isnan(fitted.validation)
        what = f"Minus the mean log-likelihood of the rows {'held out' if held_out else 'learned from'}, in nats"
    elif is_searched(fitted) and "min_support" not in fitted.settings:
        what = f"KL(data ‖ model) plus the price of the terms{penalty}, in nats per row"
    else:
        what = f"Minus the mean log-likelihood of the rows learned from{penalty}, in nats"
    steps = "averaged fits" if "members" in fitted.settings else "steps"
    seconds = fitted.settings.get("seconds", last.seconds)
    return f"{what}, after each of {len(fitted.history):,} {steps}; {seconds:.1f} s, {html.escape(fitted.status)}."


def _chosen(c: Content) -> str:
    """That errors are too small, where terms were searched for and standard errors are shown."""
    shown = c.estimator._has_terms and has_intervals(c.estimator.interactions_)
    if not shown or not is_searched(c.estimator.fitted_):
        return ""
    return " Standard errors do not account for the choice of the terms with the same data."


def _footer(c: Content) -> str:
    fitted = c.estimator.fitted_
    settings: dict[str, Any] = {k: v for k, v in fitted.settings.items() if v is not None and not isinstance(v, dict)}
    shown = ", ".join(f"{k}={v}" for k, v in settings.items() if len(str(v)) < 60)
    return (
        f"<footer><p>Fullspan {html.escape(fitted.version)}. Settings: <code>{html.escape(shown)}</code></p>"
        f"<p>Data fingerprint <code>{html.escape(fitted.fingerprint[:16])}</code>.{_chosen(c)} Weights describe "
        "association, not cause.</p></footer>"
    )
