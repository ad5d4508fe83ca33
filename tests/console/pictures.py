"""Pictures of pages as small files: PNG with a palette that keeps the rare colours, such as those of kinds."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 90_000
"""Bytes of a picture in the documentation."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2
"""The filter of PNG that the browser uses when it writes fast: each line is the difference to the line above."""
Pixels = NDArray[np.uint8]


def photograph(page: Any, path: Path, tallest: int) -> None:
    """Write a picture of a page from its top, at most so many pixels high."""
    width = page.viewport_size["width"]
    page.set_viewport_size({"width": width, "height": min(page.evaluate("document.body.scrollHeight"), tallest)})
    page.evaluate("window.scrollTo(0, 0)")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    session.detach()
    write_picture(base64.b64decode(taken["data"]), path)


def write_picture(png: bytes, path: Path) -> None:
    """Write a screenshot with a palette of as many colours as keep it small."""
    pixels = _decoded(png)
    path.parent.mkdir(parents=True, exist_ok=True)
    for colours in (160, 96, 64, 48):
        written = _encoded(*_reduced(pixels, colours))
        if len(written) <= LARGEST:
            break
    assert len(written) <= LARGEST, f"{path.name} has {len(written):,} bytes"
    path.write_bytes(written)


def _decoded(png: bytes) -> Pixels:
    """Return the pixels of a PNG as the browser writes it fast."""
    assert png.startswith(_SIGNATURE)
    position, data, width, height, channels = len(_SIGNATURE), b"", 0, 0, 3
    while position < len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        name, body = png[position + 4 : position + 8], png[position + 8 : position + 8 + length]
        if name == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif name == b"IDAT":
            data += body
        position += length + 12
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    assert (lines[:, 0] == _UP).all()
    pixels = np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8)  # differences are modulo 256, as sums of bytes are
    return pixels.reshape(height, width, channels)[:, :, :3]


def _reduced(pixels: Pixels, colours: int) -> tuple[Pixels, Pixels]:
    """Return a palette, and for each pixel the place of the nearest colour in it.

    Half of the palette are the most frequent colours. Each further one is the colour that is worst served so far; one
    that fills a dot counts more than one between a letter and its background.
    """
    codes = (pixels.astype(np.uint32) * np.array([65536, 256, 1], np.uint32)).sum(axis=2, dtype=np.uint32)
    unique, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    every = np.stack([(unique >> 16) & 255, (unique >> 8) & 255, unique & 255], axis=1).astype(np.float32)
    weight = np.minimum(counts, 60).astype(np.float32) ** 0.5
    nearest = np.zeros(len(every), np.int64)
    distance = np.full(len(every), np.inf, np.float32)
    frequent = np.argsort(-counts)[: colours // 2]
    palette: list[NDArray[np.float32]] = []
    while len(palette) < min(colours, len(every)):
        place = frequent[len(palette)] if len(palette) < len(frequent) else int(np.argmax(distance * weight))
        apart = ((every - every[place]) ** 2).sum(axis=1)
        nearest[apart < distance] = len(palette)
        distance = np.minimum(distance, apart)
        palette.append(every[place])
    return np.stack(palette).astype(np.uint8), nearest[inverse].reshape(codes.shape).astype(np.uint8)


def _encoded(palette: Pixels, indices: Pixels) -> bytes:
    height, width = indices.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), indices], axis=1).tobytes()
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
    return _SIGNATURE + b"".join(chunks)
