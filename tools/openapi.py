"""Write the OpenAPI document of the server into a file.

    python -m tools.openapi clients/typescript/openapi.json

``make client-typescript`` makes the TypeScript client from it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import longmind
from longmind.server.rest.openapi import openapi


def document() -> str:
    """Return the document as text."""
    return json.dumps(openapi(longmind.__version__), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(document(), encoding="utf-8")
