"""Reflection with a language model, in addition to the rules.

What the model says counts only with a quote that stands in the record of the run. Everything else is refused, and told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, StringConstraints

from recollect.agent.models import Action, Call, Critique, Observation, Outcome, Turn
from recollect.agent.record import told_call
from recollect.agent.reflect import Critic, Draft, RuleCritic
from recollect.errors import InvalidAnswer, ModelError
from recollect.models import prompts
from recollect.models.chat import Chat, Usage
from recollect.models.quotes import quotes
from recollect.types import Model

S = TypeVar("S", bound=BaseModel)
_RECORD = 12_000
_BEFORE = (
    "The agent is about to do this: {action}\nDoes something in the record speak against it, such as a call that "
    "failed already? Object only if it does."
)
_AFTER = (
    "The run is over. What should the agent do again, and what not, when it gets a task like this one? Say it in one "
    "or two sentences that help without the record at hand."
)
Line = Annotated[str, StringConstraints(max_length=2_000)]


class Objection(Model):
    """What a model says of an action that is about to be taken."""

    objects: bool
    objection: Line = ""
    quote: Line = ""


class Conclusion(Model):
    """What a model concludes from a run."""

    lesson: Line
    quote: Line


class ModelCritic:
    """Asks a model where there is something to weigh; the rules have the first word, and the last if it fails."""

    def __init__(self, chat: Chat, *, rules: Critic | None = None) -> None:
        self._chat = chat
        self._rules = rules or RuleCritic()
        self._prompt = prompts.load("reflect")
        self._usage = Usage()
        self.rejected = 0
        """Judgements whose quote did not stand in the record."""

    @property
    def usage(self) -> Usage:
        return self._usage

    async def before(self, turn: Turn, action: Action) -> Critique | None:
        """The rules' objection, or else the model's, if anything was done or learnt that could speak against it."""
        by_rule = await self._rules.before(turn, action)
        if by_rule is not None or not (turn.done or turn.reflections):
            return by_rule
        record = record_of(turn.task, turn.done, [memory.content for memory in turn.reflections])
        said = await self._asked(record, _BEFORE.replace("{action}", _told(action)), Objection)
        if not said.objects or not said.objection.strip():
            return None
        if quotes(record, said.quote) is None:
            self.rejected += 1
            return None
        evidence = tuple(m.id for m in turn.reflections if quotes(m.content, said.quote) is not None)
        return Critique(objection=said.objection, evidence=evidence)

    async def after(self, turn: Turn, outcome: Outcome) -> Draft | None:
        """The rules' conclusion, in the model's words where it has evidence for them."""
        draft = await self._rules.after(turn, outcome)
        if draft is None:
            return None
        ended = {True: "The task was done.", False: "The task was not done.", None: ""}[outcome.success]
        record = record_of(turn.task, outcome.done, [f"{outcome.ending}: {outcome.text} {ended}"])
        try:
            said = await self._asked(record, _AFTER, Conclusion)
        except ModelError as error:
            return draft.model_copy(update={"problems": (f"The critic's model failed: {error.message}",)})
        if not said.lesson.strip() or quotes(record, said.quote) is None:
            self.rejected += 1
            problem = "A conclusion of the critic's model was refused: it quotes nothing that stands in the record."
            return draft.model_copy(update={"problems": (problem,)})
        origin = {"quote": said.quote, "model": self._chat.name, "prompt": self._prompt.id}
        text = f"{draft.text}\nConclusion: {said.lesson}"
        return draft.model_copy(update={"text": text, "body": draft.body | origin})

    async def _asked(self, record: str, question: str, schema: type[S]) -> S:
        text = self._prompt.fill(record=record, question=question)
        try:
            answer = await self._chat.structured(text, schema, prompts=(self._prompt.id,))
        except InvalidAnswer as error:
            self._usage += error.usage or Usage()
            raise
        self._usage += answer.usage
        return answer.value


def record_of(task: str, done: Sequence[Observation], more: Sequence[str]) -> str:
    """A run in words, as a critic reads it."""
    lines = [f"Task: {task}", *(f"{n}. {told_call(one)}" for n, one in enumerate(done, 1)), *more]
    return "\n".join(lines)[:_RECORD]


def _told(action: Action) -> str:
    if isinstance(action, Call):
        return f"call {action.tool} with {action.args}. {action.thought}"[:2_000]
    return f"answer: {action.text}"[:2_000]
