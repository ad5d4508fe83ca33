"""Install the browser that the console's tests drive, if it is missing and this machine lets us: Debian's chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def main() -> None:
    """Install chromium, or say why not. The tests skip without it, so this never fails."""
    if shutil.which("chromium"):
        return
    said = "The tests of the console need chromium and will be skipped; on Debian: apt-get install chromium"
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        sys.stderr.write(f"{said}\n")
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in ([apt, "update", "-q"], [apt, "install", "-y", "-q", "--no-install-recommends", "chromium"]):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode != 0:
            sys.stderr.write(f"{said}\n")
            return


if __name__ == "__main__":
    main()
