"""Benchmarks: what recall finds, what it costs, and what an agent learns. Run ``python -m benchmarks --help``.

They belong to the repository, not to the installed package.
"""
