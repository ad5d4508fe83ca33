"""Screenshots as small files: PNG with a palette, which the pictures of a page hardly differ from."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LARGEST = 150_000
"""Bytes of a picture in the documentation."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
Pixels = NDArray[np.uint8]


def write_picture(png: bytes, path: Path) -> None:
    """Write a screenshot with a palette of as many colours as keep it small."""
    pixels = _decoded(png)
    path.parent.mkdir(parents=True, exist_ok=True)
    for colours in (256, 128, 64, 32):
        written = _encoded(*_reduced(pixels, colours))
        if len(written) <= LARGEST:
            break
    assert len(written) <= LARGEST, f"{path.name} has {len(written):,} bytes"
    path.write_bytes(written)


def _decoded(png: bytes) -> Pixels:
    """Return the pixels of a PNG of 8 bits, as browsers write it."""
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
    out = np.zeros((height, width, channels), np.uint8)
    above = np.zeros((width, channels), np.int32)
    for row in range(height):
        above = _unfiltered(int(lines[row, 0]), lines[row, 1:].reshape(width, channels).astype(np.int32), above)
        out[row] = above
    return out[:, :, :3]


def _unfiltered(kind: int, line: NDArray[np.int32], above: NDArray[np.int32]) -> NDArray[np.int32]:
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line, axis=0) & 255
    if kind == 2:
        return (line + above) & 255
    out = np.zeros_like(line)
    for channel in range(line.shape[1]):
        left = corner = 0
        values, up = line[:, channel].tolist(), above[:, channel].tolist()
        for column, value in enumerate(values):
            if kind == 3:
                left = (value + (left + up[column]) // 2) & 255
            else:
                guess = left + up[column] - corner
                far_left, far_up, far_corner = abs(guess - left), abs(guess - up[column]), abs(guess - corner)
                nearest = (
                    left if far_left <= min(far_up, far_corner) else up[column] if far_up <= far_corner else corner
                )
                left, corner = (value + nearest) & 255, up[column]
            out[column, channel] = left
    return out


def _reduced(pixels: Pixels, colours: int) -> tuple[Pixels, Pixels]:
    """Return the most frequent colours, and for each pixel the nearest of them."""
    codes = (pixels.astype(np.uint32) * np.array([65536, 256, 1], np.uint32)).sum(axis=2, dtype=np.uint32)
    unique, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    chosen = unique[np.argsort(-counts)[:colours]]
    palette = np.stack([(chosen >> 16) & 255, (chosen >> 8) & 255, chosen & 255], axis=1).astype(np.int32)
    every = np.stack([(unique >> 16) & 255, (unique >> 8) & 255, unique & 255], axis=1).astype(np.int32)
    nearest = np.concatenate(
        [
            np.argmin(((part[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2), axis=1)
            for part in np.array_split(every, max(1, len(every) // 2_000))
        ]
    )
    return palette.astype(np.uint8), nearest[inverse].reshape(codes.shape).astype(np.uint8)


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
