"""Questions: an answer from memory with its evidence, or that it is not known."""

from longmind.operations.faces import AGENT
from longmind.operations.operation import Noun

_questions = Noun("questions", AGENT)

OPERATIONS = (_questions.post("/ask", "ask", permission="read", example={"question": "Where does Alice live?"}),)
