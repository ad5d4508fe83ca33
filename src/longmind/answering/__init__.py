"""Answering: from a question and what is recalled to an answer with its evidence, or that it is not known."""

from longmind.answering.answerer import Answerer
from longmind.answering.readers import open_reader
from longmind.answering.sentences import SentenceReader

__all__ = ["Answerer", "SentenceReader", "open_reader"]
