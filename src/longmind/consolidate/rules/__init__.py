"""Extraction without a language model: patterns and word lists, applied to one sentence at a time."""
