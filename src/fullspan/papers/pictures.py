"""Small grey pictures side by side, as one SVG with a PNG in it: no imaging library is needed."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from fullspan.arrays import Array

_GAP, _LINE, _LEFT = 1, 22, 110


def png(grey: NDArray[np.uint8]) -> bytes:
    """A grey picture (rows, columns) as the bytes of a PNG file."""
    height, width = grey.shape
    lines = np.concatenate([np.zeros((height, 1), dtype=np.uint8), grey], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def tiled(pictures: Array, across: int) -> Array:
    """Pictures (k, rows, columns) of 0 (white) to 1 (black) in rows of ``across``, with gaps."""
    k, height, width = pictures.shape
    down = -(-k // across)
    sheet = np.full((down * (height + _GAP) - _GAP, across * (width + _GAP) - _GAP), 0.15)
    for i, picture in enumerate(pictures):
        y, x = i // across * (height + _GAP), i % across * (width + _GAP)
        sheet[y : y + height, x : x + width] = picture
    return sheet


def sheets(title: str, labelled: Sequence[tuple[str, Array]], scale: int = 3) -> str:
    """SVG of one sheet of pictures under another, each with its label to the left."""
    width = _LEFT + scale * max(sheet.shape[1] for _, sheet in labelled) + 10
    parts, y = [f'<text x="8" y="20" font-size="14">{escape(title)}</text>'], 32
    for label, sheet in labelled:
        grey = np.round(255 * (1 - np.clip(sheet, 0.0, 1.0))).astype(np.uint8)
        data = base64.b64encode(png(grey)).decode("ascii")
        h, w = scale * sheet.shape[0], scale * sheet.shape[1]
        parts.append(f'<text x="8" y="{y + 14}">{escape(label)}</text>')
        parts.append(
            f'<image x="{_LEFT}" y="{y}" width="{w}" height="{h}" style="image-rendering:pixelated" '
            f'href="data:image/png;base64,{data}"/>'
        )
        y += h + _LINE
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" '
        'font-family="sans-serif" font-size="11">'
    )
    return "\n".join([head, f'<rect width="{width}" height="{y}" fill="white"/>', *parts, "</svg>", ""])


def contrasted(pictures: Array) -> Array:
    """Pictures of any numbers as grey: 0 is middle grey, the largest size of each picture black or white."""
    most = np.abs(pictures).max(axis=(1, 2), keepdims=True)
    return 0.5 + 0.5 * pictures / np.where(most == 0, 1.0, most)
