"""Models: embedders, rerankers and language models, each behind a small protocol; one file per provider.

Nothing here is imported before it is used, and nothing reaches the network unless it was asked to.
"""
