"""The same pictures as Altair charts, which zoom and tell their numbers to the pointer in a notebook."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from fullspan.errors import FullspanError
from fullspan.pictures.axes import AROUND
from fullspan.pictures.chart import Bars, Chart, ticks
from fullspan.pictures.interactions import InteractionGraph
from fullspan.pictures.legend import LIGHT, N_GROUPS, ROLES, WORDS
from fullspan.pictures.svg import hull

Rows = list[dict[str, Any]]


def _altair() -> Any:
    """The package.

    Raises
    ------
    FullspanError : it is not installed.
    """
    try:
        import altair
    except ImportError as error:
        raise FullspanError("backend='altair' needs Altair: pip install altair") from error
    return altair


def _of(rows: Rows) -> Any:
    """A chart of rows, without a data frame in between."""
    alt = _altair()
    return alt.Chart(alt.Data(values=rows))


def _coloured(meanings: dict[str, str]) -> Any:
    """The colours of meanings, with a legend."""
    alt = _altair()
    scale = alt.Scale(domain=list(meanings), range=[LIGHT[role] for role in meanings.values()])
    return alt.Color("meaning:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def bars(picture: Bars) -> Any:
    """Horizontal bars with whiskers, the first on top; what is beyond all bounds is an arrow."""
    alt = _altair()
    low, high = picture.range()
    meaning = {role: {**WORDS, 0: picture.neutral}[direction] for direction, role in ROLES.items()}
    rows: Rows = [
        {
            "k": k,
            "label": label,
            "value": min(max(value, low), high) if not math.isnan(value) else None,
            "meaning": meaning[picture.role(k)],
            "text": picture.texts[k] if picture.texts else "",
            "arrow": "triangle-right" if value > 0 else "triangle-left",
            **dict(zip(("low", "high"), picture.whiskers(k) or (), strict=False)),
        }
        for k, (label, value) in enumerate(zip(picture.labels, picture.values, strict=True))
    ]
    used = {meaning[role]: role for role in ROLES.values() if any(row["meaning"] == meaning[role] for row in rows)}
    named = alt.Axis(labelExpr=f"{json.dumps(picture.labels)}[datum.value]", labelLimit=420, title=None)
    x = alt.X("value:Q", title=picture.x_label, scale=alt.Scale(domain=[low, high], nice=False))
    arrow = alt.Shape("arrow:N", scale=None)
    whiskers = [row for row in rows if "low" in row]
    beyond = [row for row, value in zip(rows, picture.values, strict=True) if math.isinf(value)]
    layers = [
        _of(rows)
        .mark_bar()
        .encode(y=alt.Y("k:O", axis=named), x=x, color=_coloured(used), tooltip=["label:N", "text:N"]),
        _of(whiskers).mark_rule(color=LIGHT["ink"]).encode(y="k:O", x="low:Q", x2="high:Q"),
        _of(beyond).mark_point(filled=True, size=90, color=LIGHT["ink"]).encode(y="k:O", x="value:Q", shape=arrow),
    ]
    kept = [layer for layer, any_ in zip(layers, (rows, whiskers, beyond), strict=True) if any_]
    return alt.layer(*kept).properties(title=picture.title, width=420)


def chart(picture: Chart) -> Any:
    """Series on two axes."""
    alt = _altair()
    (x0, x1), (y0, y1) = picture.ranges()
    layers = []
    axis = alt.Axis(values=ticks(x0, x1, whole=picture.whole_x))
    for s in picture.series:
        ends: Rows = [{"low": y - e, "high": y + e} for y, e in zip(s.y, s.errors, strict=False)] or [{}] * len(s.x)
        rows: Rows = [{"x": x, "y": y, **end} for x, y, end in zip(s.x, s.y, ends, strict=True) if math.isfinite(y)]
        x = alt.X("x:Q", title=picture.x_label, scale=alt.Scale(domain=[x0, x1], nice=False), axis=axis)
        y = alt.Y("y:Q", title=picture.y_label, scale=alt.Scale(domain=[y0, y1], nice=False))
        look: dict[str, Any] = {"color": LIGHT[s.role]}
        if s.mark == "line":
            dash = {"strokeDash": [6, 4]} if s.dashed else {}
            layers.append(_of(rows).mark_line(**look, **dash).encode(x=x, y=y))
        else:
            layers.append(_of(rows).mark_point(filled=True, size=60, **look).encode(x=x, y=y, tooltip=["x:Q", "y:Q"]))
            if s.errors:
                layers.append(_of(rows).mark_rule(**look).encode(x="x:Q", y="low:Q", y2="high:Q"))
    size = {"width": 320, "height": 320} if picture.square else {"width": 420, "height": 260}
    return alt.layer(*layers).properties(title=picture.title, **size)


def graph(picture: InteractionGraph) -> Any:
    """The interaction graph: lines of pairs, shades of larger groups, and names; a tooltip names each pair."""
    alt = _altair()
    plain = alt.Scale(domain=[-0.05, 1.05], nice=False)
    places = {"x": alt.X("x:Q", axis=None, scale=plain), "y": alt.Y("y:Q", axis=None, scale=plain)}
    layers = [*_shades(picture, places), *_lines(picture, places), *_names(picture, places)]
    return alt.layer(*layers).properties(width=680, height=round(425 * picture.tall)).configure_view(stroke=None)


def _shades(picture: InteractionGraph, places: dict[str, Any]) -> Iterator[Any]:
    for k, group in reversed(list(enumerate(picture.groups))):
        around = (picture.at[list(group.nodes)][:, None] + AROUND / (1.0, picture.tall)).reshape(-1, 2)
        corners = [{"x": float(x), "y": 1 - float(y), "k": i} for i, (x, y) in enumerate(hull(around))]
        look = {"filled": True, "strokeWidth": 0, "opacity": 0.22, "color": LIGHT[f"group{k % N_GROUPS}"]}
        yield _of(corners).mark_line(**look).encode(order="k:Q", **places)


def _lines(picture: InteractionGraph, places: dict[str, Any]) -> Iterator[Any]:
    alt = _altair()
    words = {**WORDS, 0: picture.neutral}
    rows: Rows = []
    for edge in reversed(picture.edges):
        (x, y), (x2, y2) = picture.at[list(edge.nodes)].tolist()
        rows.append({"x": x, "y": 1 - y, "x2": x2, "y2": 1 - y2, "meaning": words[edge.direction]})
        rows[-1]["width"] = 0.8 + 4.5 * edge.strength**0.7
        rows[-1]["pair"] = ", ".join(picture.names[node] for node in edge.nodes)
        rows[-1][picture.measure] = float(f"{edge.strength * picture.most:.4g}")
    if not rows:
        return
    used = {words[d]: role for d, role in ROLES.items() if any(row["meaning"] == words[d] for row in rows)}
    dashes = alt.Scale(domain=list(used), range=[[6, 4] if role == "against" else [1, 0] for role in used.values()])
    yield (
        _of(rows)
        .mark_rule(opacity=0.8)
        .encode(
            **places,
            x2="x2:Q",
            y2="y2:Q",
            color=_coloured(used),
            strokeDash=alt.StrokeDash("meaning:N", scale=dashes, legend=None),
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
            tooltip=["pair:N", "meaning:N", f"{picture.measure}:Q"],
        )
    )


def _names(picture: InteractionGraph, places: dict[str, Any]) -> Iterator[Any]:
    rows: Rows = [
        {"x": float(x), "y": 1 - float(y), "name": name, "label": list(label)}
        for (x, y), name, label in zip(picture.at, picture.names, picture.labels, strict=True)
    ]
    halo = {"stroke": "white", "strokeWidth": 5, "strokeJoin": "round"}
    for look in (halo, {"color": LIGHT["ink"]}):
        yield _of(rows).mark_text(**look).encode(text="label:N", tooltip=["name:N"], **places)
