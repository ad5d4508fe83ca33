"""Recall: the memories that fit a question best."""

from longmind.operations.faces import AGENT
from longmind.operations.operation import Noun

_recall = Noun("recall", AGENT)

OPERATIONS = (
    _recall.post(
        "/recall",
        "recall",
        permission="read",
        result_name="hits",
        example={"query": "where does she live?", "k": 5},
    ),
)
