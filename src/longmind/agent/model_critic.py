"""Reflection with a language model, in addition to the rules.

A judgement of the model counts only with a quote from the record of the run. Any other is refused and reported.
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
from longmind.models.quotes import find_quote
from longmind.text.quoting import quote
from longmind.types import Model

S = TypeVar("S", bound=BaseModel)
_RECORD, _RECORD_LINE, _ACTION = 12_000, 4_000, 2_000
_LESSON, _QUOTE = 400, 200
"""The length that a model is asked to keep to, in characters; longer answers are accepted up to a limit."""
Line = Annotated[str, StringConstraints(max_length=2_000)]
Sentence = Annotated[Line, Field(json_schema_extra={"maxLength": _LESSON})]
Quote = Annotated[Line, Field(json_schema_extra={"maxLength": _QUOTE})]


class Objection(Model):
    """A model's answer about an action before it is taken."""

    objects: bool
    objection: Sentence = ""
    quote: Quote = ""


class Conclusion(Model):
    """What a model concludes from a run."""

    lesson: Sentence
    quote: Quote


class ModelCritic:
    """Applies rules first, and then asks a model. If the model fails, the result of the rules stands."""

    def __init__(self, chat: Chat, *, rules: Critic | None = None) -> None:
        self._chat = chat
        self._rules = rules or RuleCritic()
        self._usage = Usage()
        self.rejected = 0
        """The number of judgements whose quote was not in the record."""

    @property
    def usage(self) -> Usage:
        return self._usage

    async def before(self, turn: Turn, action: Action) -> Critique | None:
        """Return the objection of the rules, or else of the model if there is something to judge by."""
        by_rule = await self._rules.before(turn, action)
        if by_rule is not None or not (turn.done or turn.reflections):
            return by_rule
        texts = record_of(turn.task, turn.done, [memory.content for memory in turn.reflections])
        action_text = quote(_describe_action(action), _ACTION)
        said = await self._ask("object", Objection, record=_render_record(texts), action=action_text)
        if not said.objects or not said.objection.strip():
            return None
        if not _is_quoted(texts, said.quote):
            self.rejected += 1
            return None
        evidence = tuple(m.id for m in turn.reflections if find_quote(m.content, said.quote) is not None)
        return Critique(objection=said.objection, evidence=evidence)

    async def after(self, turn: Turn, outcome: Outcome) -> ReflectionDraft | None:
        """Return the conclusion of the rules, with the lesson of the model if it has evidence."""
        draft = await self._rules.after(turn, outcome)
        if draft is None:
            return None
        ended = {True: "The task was done.", False: "The task was not done.", None: ""}[outcome.success]
        texts = record_of(turn.task, outcome.done, [f"{outcome.ending}: {outcome.text} {ended}"])
        try:
            said = await self._ask("conclude", Conclusion, record=_render_record(texts))
        except ModelError as error:
            return draft.model_copy(update={"problems": (f"The critic's model failed: {error.message}",)})
        if not said.lesson.strip() or not _is_quoted(texts, said.quote):
            self.rejected += 1
            problem = "A conclusion of the critic's model was refused: it quotes nothing that stands in the record."
            return draft.model_copy(update={"problems": (problem,)})
        origin = {"quote": said.quote, "model": self._chat.name, "prompt": prompts.load("conclude").id}
        text = f"{draft.text}\nConclusion: {said.lesson}"
        return draft.model_copy(update={"text": text, "body": draft.body | origin})

    async def _ask(self, name: str, schema: type[S], **places: str) -> S:
        prompt = prompts.load(name)
        try:
            answer = await self._chat.structured(prompt.fill(**places), schema, temperature=0.0, prompts=(prompt.id,))
        except InvalidAnswer as error:
            self._usage += error.usage or Usage()
            raise
        self._usage += answer.usage
        return answer.value


def record_of(task: str, done: Sequence[Observation], more: Sequence[str]) -> list[str]:
    """Describe a run in words, for a critic: the task, each call, and what else is known."""
    return [f"Task: {task}", *(f"{n}. {describe_call(call)}" for n, call in enumerate(done, 1)), *more]


def _render_record(texts: Sequence[str]) -> str:
    """Render a record as quoted data, as many lines as fit."""
    lines, left = list[str](), _RECORD
    for text in texts:
        line = f"- {quote(text, min(_RECORD_LINE, max(left, 1)))}"
        left -= len(line) + 1
        if left < 0 and lines:
            break
        lines.append(line)
    return "\n".join(lines)


def _is_quoted(texts: Sequence[str], words: str) -> bool:
    return any(find_quote(text, words) is not None for text in texts)


def _describe_action(action: Action) -> str:
    if isinstance(action, Call):
        return f"call {action.tool} with {action.args}. {action.thought}"
    return f"answer: {action.text}"
