"""Read the arrays of a safetensors file with numpy alone.

The format is eight bytes with the length of a header, the header as JSON (type, shape and place of each array), and the
arrays one after another.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmind.errors import ModelMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = {"F16": "<f2", "F32": "<f4", "U8": "|u1"}


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name, mapped into memory and read-only: a page is read when it is used."""
    import numpy as np

    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
        data = np.memmap(path, mode="r", offset=8 + length).view(np.ndarray)
    except FileNotFoundError as error:
        raise ModelMissing(f"The package lacks {path.name}.", hint="Install longmind anew.") from error
    except (OSError, ValueError, OverflowError) as error:
        raise ModelMissing(f"{path.name} is damaged.", hint="Install longmind anew.") from error
    return {name: _array(data, entry, path) for name, entry in header.items() if name != "__metadata__"}


def _array(data: NDArray[Any], entry: dict[str, Any], path: Path) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    if end > len(data):
        raise ModelMissing(f"{path.name} is damaged: it ends too early.", hint="Install longmind anew.")
    return data[start:end].view(_TYPES[entry["dtype"]]).reshape(entry["shape"])
