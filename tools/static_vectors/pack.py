"""Write the word pieces and vectors of the ``wordllama`` package to the one file that longmind ships.

``python -m tools.static_vectors.pack`` needs the ``dev`` extra. The vectors are copied bit by bit.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from longmind.models.embed_static import TABLE

CREDIT = {
    "source": "wordllama 0.4.0, l2_supercat, 256 dimensions",
    "copyright": "Copyright (c) 2024 Lee Miller, MIT License; see NOTICE",
}


def main() -> None:
    """Write the file."""
    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise SystemExit("wordllama is not installed: pip install -e '.[dev]'")
    folder = Path(package.origin).parent
    words = json.loads((folder / "tokenizers" / "l2_supercat_tokenizer_config.json").read_text("utf-8"))
    ids = words["model"]["vocab"]
    pieces = sorted(ids, key=ids.__getitem__)
    with safe_open(str(folder / "weights" / "l2_supercat_256.safetensors"), framework="np") as file:
        rows = file.get_tensor("embedding.weight")
    joined = np.frombuffer("\n".join(pieces).encode(), np.uint8)
    save_file({"vectors": rows, "pieces": joined}, TABLE, metadata=CREDIT)


if __name__ == "__main__":
    main()
