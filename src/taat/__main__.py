"""``python -m taat``: the same as ``taat``, for where the script is not on the path."""

from taat.cli import main

if __name__ == "__main__":
    main()
