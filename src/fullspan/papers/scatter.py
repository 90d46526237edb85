"""Points in the plane, coloured by class, as SVG: no plotting library is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from fullspan.papers.log_panels import COLOURS

_SIDE, _MARGIN = 360, 30


@dataclass(frozen=True)
class Cloud:
    """Points (m, 2) with a class each, under a title."""

    title: str
    points: NDArray[np.float64]
    labels: NDArray[np.int64]


def scatter_svg(clouds: Sequence[Cloud]) -> str:
    """All clouds side by side, each scaled to its square, with a key of the classes."""
    width, height = len(clouds) * _SIDE, _SIDE + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for k, cloud in enumerate(clouds):
        parts += [f'<g transform="translate({k * _SIDE},0)">', *_cloud(cloud), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _cloud(cloud: Cloud) -> list[str]:
    low, high = cloud.points.min(axis=0), cloud.points.max(axis=0)
    room = _SIDE - 2 * _MARGIN
    at = _MARGIN + room * (cloud.points - low) / np.where(high > low, high - low, 1.0)
    out = [f'<text x="{_MARGIN}" y="20" font-size="13">{escape(cloud.title)}</text>']
    for (x, y), label in zip(at.tolist(), cloud.labels.tolist(), strict=True):
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{COLOURS[label % len(COLOURS)]}"/>')
    for i, label in enumerate(np.unique(cloud.labels).tolist()):
        colour = COLOURS[label % len(COLOURS)]
        out.append(f'<text x="{_MARGIN + 24 * i}" y="{_SIDE}" fill="{colour}">{label}</text>')
    return out
