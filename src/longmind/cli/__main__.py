"""``python -m longmind.cli``: the same as ``longmind``, for where the script is not on the path."""

from longmind.cli import main

if __name__ == "__main__":
    main()
