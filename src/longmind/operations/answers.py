"""Answers: an agent does a task with what it remembers, and remembers what it did.

It decides with the language model of the server's settings; without one it answers from memory and says so.
"""

from longmind.operations.faces import AGENT_AT_WORK
from longmind.operations.operation import Noun

_answers = Noun("answers", AGENT_AT_WORK)

OPERATIONS = (
    _answers.post(
        "/answers",
        "run",
        status=201,
        idempotency="key",
        progress={"text": str},
        progress_parameter="on_text",
        name="answers.answer",
        example={"task": "Where do I live?", "session": "s1"},
    ),
)
