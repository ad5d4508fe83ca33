"""Weights of Longmind's small models. ``longmind.models.small_models`` loads them; nothing here runs.

``manifest.json`` lists every file with its SHA-256 checksum.
"""

from pathlib import Path

WEIGHTS = Path(__file__).parent / "weights"
"""The folder of the files."""
