"""``python -m recollect.cli``: the same as ``recollect``, for where the script is not on the path."""

from recollect.cli import main

if __name__ == "__main__":
    main()
