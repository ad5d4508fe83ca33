"""Reflection with a language model, in addition to the rules.

What the model says counts only with a quote that stands in the record of the run. Everything else is refused, and told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, StringConstraints

from longmind.agent.critics import Critic, ReflectionDraft, RuleCritic
from longmind.agent.models import Action, Call, Critique, Observation, Outcome, Turn
from longmind.agent.run_recorder import describe_call
from longmind.errors import InvalidAnswer, ModelError
from longmind.models import prompts
from longmind.models.chat import Chat, Usage
from longmind.models.quotes import quotes
from longmind.types import Model

S = TypeVar("S", bound=BaseModel)
_RECORD = 12_000
_LESSON, _QUOTE = 400, 200
"""Characters a model is given for what it says; a little more is still taken."""
Line = Annotated[str, StringConstraints(max_length=2_000)]
Sentence = Annotated[Line, Field(json_schema_extra={"maxLength": _LESSON})]
Quote = Annotated[Line, Field(json_schema_extra={"maxLength": _QUOTE})]


class Objection(Model):
    """What a model says of an action that is about to be taken."""

    objects: bool
    objection: Sentence = ""
    quote: Quote = ""


class Conclusion(Model):
    """What a model concludes from a run."""

    lesson: Sentence
    quote: Quote


class ModelCritic:
    """Asks a model where there is something to weigh; the rules have the first word, and the last if it fails."""

    def __init__(self, chat: Chat, *, rules: Critic | None = None) -> None:
        self._chat = chat
        self._rules = rules or RuleCritic()
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
        said = await self._asked("object", Objection, record=record, action=_told(action))
        if not said.objects or not said.objection.strip():
            return None
        if quotes(record, said.quote) is None:
            self.rejected += 1
            return None
        evidence = tuple(m.id for m in turn.reflections if quotes(m.content, said.quote) is not None)
        return Critique(objection=said.objection, evidence=evidence)

    async def after(self, turn: Turn, outcome: Outcome) -> ReflectionDraft | None:
        """The rules' conclusion, in the model's words where it has evidence for them."""
        draft = await self._rules.after(turn, outcome)
        if draft is None:
            return None
        ended = {True: "The task was done.", False: "The task was not done.", None: ""}[outcome.success]
        record = record_of(turn.task, outcome.done, [f"{outcome.ending}: {outcome.text} {ended}"])
        try:
            said = await self._asked("conclude", Conclusion, record=record)
        except ModelError as error:
            return draft.model_copy(update={"problems": (f"The critic's model failed: {error.message}",)})
        if not said.lesson.strip() or quotes(record, said.quote) is None:
            self.rejected += 1
            problem = "A conclusion of the critic's model was refused: it quotes nothing that stands in the record."
            return draft.model_copy(update={"problems": (problem,)})
        origin = {"quote": said.quote, "model": self._chat.name, "prompt": prompts.load("conclude").id}
        text = f"{draft.text}\nConclusion: {said.lesson}"
        return draft.model_copy(update={"text": text, "body": draft.body | origin})

    async def _asked(self, name: str, schema: type[S], **places: str) -> S:
        prompt = prompts.load(name)
        try:
            answer = await self._chat.structured(prompt.fill(**places), schema, temperature=0.0, prompts=(prompt.id,))
        except InvalidAnswer as error:
            self._usage += error.usage or Usage()
            raise
        self._usage += answer.usage
        return answer.value


def record_of(task: str, done: Sequence[Observation], more: Sequence[str]) -> str:
    """A run in words, as a critic reads it."""
    lines = [f"Task: {task}", *(f"{n}. {describe_call(one)}" for n, one in enumerate(done, 1)), *more]
    return "\n".join(lines)[:_RECORD]


def _told(action: Action) -> str:
    if isinstance(action, Call):
        return f"call {action.tool} with {action.args}. {action.thought}"[:2_000]
    return f"answer: {action.text}"[:2_000]
