"""An invented example that fills a store: two users, three months, goals, procedures with versions, changed facts."""

from longmind.cli.example.loading import Loaded, load_example

__all__ = ["Loaded", "load_example"]
