"""What a report is put together from: figures, tables with bars, numbers."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from fullspan.pictures.legend import DARK, LIGHT, css_variables

SHOWN = 25
"""Rows in the open part of a long table."""
Rows = Sequence[tuple[Sequence[str], float | None]]
"""Cells of a row, and the length of its bar, from 0 to 1."""


def figure(picture: str, caption: str, *, wide: bool = False) -> str:
    """A picture with its caption; a wide one scrolls."""
    scrolls = ' class="wide" tabindex="0"' if wide else ""
    return f"<figure{scrolls}>{picture}{f'<figcaption>{caption}</figcaption>' if caption else ''}</figure>"


def folded(head: Sequence[str], rows: Rows, roles: Sequence[str] = ()) -> str:
    """The first rows, and the others to unfold."""
    text = table(head, rows[:SHOWN], roles=roles[:SHOWN])
    if len(rows) > SHOWN:
        rest = table(head, rows[SHOWN:], roles=roles[SHOWN:])
        text += f"<details><summary>All {len(rows):,}</summary>{rest}</details>"
    return text


def table(head: Sequence[str], rows: Rows, best: Sequence[bool] = (), roles: Sequence[str] = ()) -> str:
    """First column text, others numbers, then a bar where there is one, in the colour of its role."""
    bars = any(bar is not None for _, bar in rows)
    names = "".join(
        f'<th scope="col"{" class=t" if j == 0 else ""}>{html.escape(name)}</th>' for j, name in enumerate(head)
    )
    body = []
    for k, (cells, bar) in enumerate(rows):
        text = "".join(f"<td{' class=t' if j == 0 else ''}>{html.escape(cell)}</td>" for j, cell in enumerate(cells))
        if bars:
            share = bar if bar is not None and math.isfinite(bar) else 0.0
            colour = f";background:var(--{roles[k]})" if roles else ""
            text += f'<td class="w"><span class="bar" style="width:{100 * max(share, 0.0):.1f}%{colour}"></span></td>'
        body.append(f"<tr{' class=best' if best and best[k] else ''}>{text}</tr>")
    extra = "<td></td>" if bars else ""
    head_row, rows_text = f"<tr>{names}{extra}</tr>", "".join(body)
    return f'<div class="table" tabindex="0"><table><thead>{head_row}</thead><tbody>{rows_text}</tbody></table></div>'


def sentence(words: str) -> str:
    """The same words with a capital first letter."""
    return words[:1].upper() + words[1:]


def number(value: float, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:+}" if math.isinf(value) else f"{value:.{digits}f}"


CSS = (
    f":root{{color-scheme:light dark;{css_variables(LIGHT)};--soft:#f4f6f8;--warn:#fff6e5;--warnline:#e69f00}}"
    f"@media (prefers-color-scheme:dark){{:root{{{css_variables(DARK)};--soft:#1c2229;--warn:#2b2415;"
    "--warnline:#b98413}}"
    """
*{box-sizing:border-box}
body{margin:0 auto;max-width:68rem;padding:2.5rem 1.25rem 4rem;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header{border-bottom:1px solid var(--grid);padding-bottom:1.2rem;margin-bottom:1.4rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .4rem;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:2.6rem 0 .5rem;letter-spacing:-.005em}
p{margin:.5rem 0;max-width:46rem}
.lead{color:var(--muted);font-size:1.05rem}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;font-size:.92rem}
a{color:var(--with)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.2rem,1fr));gap:.8rem;margin:1.2rem 0 0;padding:0}
.facts div{background:var(--soft);border-radius:.6rem;padding:.7rem .9rem}
.facts dt{color:var(--muted);font-size:.82rem}
.facts dd{margin:0;font-size:1.35rem;font-weight:600;font-variant-numeric:tabular-nums}
.caveats{background:var(--warn);border-left:4px solid var(--warnline);border-radius:.3rem;padding:.7rem 1.1rem;
margin:1.2rem 0}
.caveats ul{margin:.2rem 0;padding-left:1.1rem}
.caveats li{margin:.35rem 0;max-width:56rem}
figure{margin:1rem 0;overflow-x:auto}
figcaption{color:var(--muted);font-size:.92rem;max-width:46rem;margin-top:.3rem}
@media screen and (max-width:50rem){.wide svg{min-width:48rem}td.t{min-width:13rem}}
svg{width:100%;height:auto;display:block;font-family:inherit}
.table{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem;font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--muted);font-size:.85rem;text-align:right;white-space:nowrap;vertical-align:bottom}
td{text-align:right;white-space:nowrap;vertical-align:baseline}
th,td{padding:.34rem 0 .34rem 1rem;border-bottom:1px solid var(--grid)}
th.t,td.t{text-align:left;white-space:normal;padding-left:0;overflow-wrap:anywhere}
td.w{min-width:8rem;text-align:left}
.bar{display:block;height:.62rem;border-radius:2px;background:var(--neutral);opacity:.85;min-width:1px}
.tick{position:relative;display:block;height:.62rem;margin-top:-.62rem}
.tick i{position:absolute;top:-.2rem;bottom:-.2rem;width:2px;background:var(--ink)}
.levels{display:flex;height:.62rem;border-radius:3px;overflow:hidden;min-width:12rem;background:var(--grid);
margin-bottom:.15rem}
.levels span{border-right:1px solid var(--paper)}
.levels span:nth-child(6n+1){background:#00735a}.levels span:nth-child(6n+2){background:#8a4a73}
.levels span:nth-child(6n+3){background:#51606e}.levels span:nth-child(6n+4){background:#6b6200}
.levels span:nth-child(6n+5){background:#1f5fa8}.levels span:nth-child(6n+6){background:#a3401c}
td.w.named{white-space:normal}
.pair{display:grid;grid-template-columns:minmax(18rem,26rem) 1fr;gap:1.5rem;align-items:start}
@media (max-width:50rem){.pair{grid-template-columns:1fr}body{padding-top:1.2rem}h1{font-size:1.6rem}}
summary{cursor:pointer;color:var(--with);margin:.6rem 0}
tr.best td{font-weight:600}
footer{margin-top:3rem;border-top:1px solid var(--grid);padding-top:1rem;color:var(--muted);font-size:.88rem}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em}
"""
    f"@media print{{:root{{color-scheme:light;{css_variables(LIGHT)};--soft:#f4f6f8;--warn:#fff;--warnline:#999}}"
    "body{font-size:10pt;max-width:none;padding:0}section,figure,tr{break-inside:avoid}h2{break-after:avoid}"
    "nav{display:none}details::details-content{content-visibility:visible;display:block;height:auto}"
    "a{color:inherit;text-decoration:none}}"
)
