"""``python -m benchmarks NAME``: run one benchmark."""

import os

from benchmarks.commands import app

if __name__ == "__main__":
    os.environ.setdefault("LONGMIND_READ_AHEAD", "0")  # what is read in the background depends on the time there was
    app(prog_name="python -m benchmarks")
