"""A real language model, small enough for any machine: it answers, streams, extracts and summarises.

A model of this size says poor things, so nothing here looks at the wording: only at shape, validity, and that what is
not in the source stays out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import httpx2
import pytest
from pydantic import BaseModel, Field

from longmind import Longmind, Settings
from longmind.consolidate.cycle import Cycle
from longmind.consolidate.model import ChatExtractor, ChatSummaryWriter, ExtractionAnswer, PromptText, Triple
from longmind.errors import BudgetSpent, InvalidAnswer, ModelError
from longmind.models.budget import Budget
from longmind.models.chat_llamacpp import LlamaCppProvider
from longmind.models.chat_model import ChatModel
from longmind.models.chat_open import open_chat
from longmind.models.quotes import find_quote
from longmind.types import Filter

pytestmark = pytest.mark.asyncio(loop_scope="session")

SOURCE = "I moved to Lisbon in May. My brother Tom plays football every Sunday."


class Fact(BaseModel):
    subject: Annotated[str, Field(max_length=30)]
    statement: Annotated[str, Field(max_length=60)]
    quote: Annotated[str, Field(max_length=80)]


class Facts(BaseModel):
    facts: Annotated[list[Fact], Field(min_length=1, max_length=2)]


class Heard(ChatExtractor):
    """The extractor, and what the model told it."""

    facts: tuple[Triple, ...] = ()

    async def extract(self, texts: Sequence[PromptText]) -> ExtractionAnswer:
        reading = await super().extract(texts)
        self.facts += reading.facts
        return reading


async def test_it_answers(chat: ChatModel, weights: Path) -> None:
    answer = await chat.complete("Say hello.", max_tokens=16, temperature=0.0)
    assert answer.text.strip()
    assert answer.finish in ("stop", "length")
    assert answer.model == weights.stem
    assert 0 < answer.usage.output_tokens <= 16
    assert answer.usage.input_tokens > 0
    assert answer.usage.cost == 0.0
    assert await chat.count("Say hello.") == answer.usage.input_tokens


async def test_it_streams(chat: ChatModel) -> None:
    pieces = [piece async for piece in chat.stream("Count to five.", max_tokens=16, temperature=0.0)]
    answer = pieces[-1].answer
    assert answer is not None
    assert len(pieces) > 2
    assert "".join(piece.text for piece in pieces) == answer.text
    assert 0 < answer.usage.output_tokens <= 16


async def test_its_facts_are_valid_and_only_those_that_quote_the_source_are_kept(chat: ChatModel) -> None:
    asked = [
        {"role": "system", "content": "List the facts in the user's text. Quote the words each fact comes from."},
        {"role": "user", "content": SOURCE},
    ]
    before = chat.tally.valid
    made = await chat.structured(asked, Facts, max_tokens=250, temperature=0.0, prompts=["facts@1"])
    assert isinstance(made.value, Facts)
    assert (made.form, made.prompts[0]) == ("schema", "facts@1")
    invented = Fact(subject="Tom", statement="Tom lives in Paris.", quote="Tom lives in Paris")
    assert find_quote(SOURCE, invented.quote) is None
    places = [place for fact in made.value.facts if (place := find_quote(SOURCE, fact.quote))]
    assert all(SOURCE[start:end].split() for start, end in places)
    assert chat.tally.valid == before + 1


async def test_consolidation_takes_of_its_facts_and_summaries_what_the_source_bears_out(chat: ChatModel) -> None:
    async with Longmind.open("memory:", settings=Settings.load({})) as longmind:
        mem = longmind.agent("a", user="alice")
        said = await mem.remember(SOURCE)
        settings = await mem.configuration()
        heard = Heard(chat)
        cycle = Cycle(longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed, heard)
        report = (await cycle.run()).of("extract")
        kept = [m async for m in longmind.store.scan_all(mem.scope, Filter(kinds=("fact",))) if "model" in m.metadata]
        assert (report.calls, report.failed) == (1, None)
        assert all(isinstance(fact, Triple) for fact in heard.facts)
        assert len(kept) + sum(report.rejected.values()) >= len(heard.facts) > 0
        for fact in kept:
            assert fact.metadata["prompts"].startswith("extract@")
            assert all(said.content[slice(*one["span"])].strip() for one in fact.body["evidence"])


async def test_a_summary_of_it_quotes_what_was_said_or_stays_what_rules_made_it(chat: ChatModel) -> None:
    async with Longmind.open("memory:", settings=Settings.load({})) as longmind:
        mem = longmind.agent("a", user="alice")
        turns = [f"The harbour museum opens room {n} in spring." for n in range(4)]
        await mem.remember([{"role": "user", "content": text} for text in turns], session="s")
        settings = await mem.configuration()
        cycle = Cycle(
            longmind.store,
            mem.scope,
            settings,
            longmind.clock,
            longmind.embedding.embed,
            summary_writer=ChatSummaryWriter(chat),
        )
        report = (await cycle.run()).of("summarise")
        (summary,) = [
            m async for m in longmind.store.scan_all(mem.scope, Filter(kinds=("summary",))) if "turns" in m.body
        ]
        assert (report.calls, report.failed) == (1, None)
        if "retold" in summary.body:
            assert summary.body["retold"]["model"] == chat.name
            assert len(summary.content.splitlines()) + sum(report.rejected.values()) <= 3
        else:
            assert summary.content.startswith("The harbour museum")
            assert sum(report.rejected.values()) >= 1 or report.added == 1
        links = await longmind.store.links(mem.scope, [summary.id], relation="derived_from", direction="out")
        assert {link.target for link in links} == set(summary.body["quoted"])


async def test_without_schemas_the_outcome_is_valid_or_told(weights: Path) -> None:
    """In JSON mode a small model may well not keep to the schema: then it is an error with the text, and counted."""

    class Place(BaseModel):
        city: str

    class JsonOnly(LlamaCppProvider):
        forms = ("json",)

    weaker = ChatModel(JsonOnly(weights, threads=1, context=1024))
    asked = weaker.structured("Where is the Eiffel Tower?", Place, max_tokens=40, temperature=0.0)
    (outcome,) = await asyncio.gather(asked, return_exceptions=True)
    await weaker.close()
    if isinstance(outcome, InvalidAnswer):
        told = (bool(outcome.details["text"]), outcome.usage.requests, weaker.tally.invalid)
        assert told == (True, 2, 1)
    else:
        assert not isinstance(outcome, BaseException)
        assert (outcome.form, type(outcome.value.city), weaker.tally.valid) == ("json", str, 1)


async def test_a_budget_stops_it(chat: ChatModel) -> None:
    budget = Budget(tokens=60)
    agent = chat.with_budget(budget)
    await agent.complete("Hi.", max_tokens=4)
    left = await budget.remaining()
    with pytest.raises(BudgetSpent):
        await agent.complete("Hi.", max_tokens=60)
    assert left is not None
    assert 0 < left < 60
    assert await budget.remaining() == left


async def test_a_call_that_is_given_up_stops_the_computation(chat: ChatModel) -> None:
    """The model serves one call at a time: the second gets its turn because the first is really over."""
    call = asyncio.ensure_future(chat.complete("Write a very long story.", max_tokens=900))
    await asyncio.sleep(0.3)  # the story may be short
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async for _ in chat.stream("Write a very long story.", max_tokens=900):
        break
    assert (await chat.complete("Hi.", max_tokens=2)).usage.output_tokens <= 2


async def test_a_question_that_is_too_long_is_refused_and_not_tried_again(chat: ChatModel) -> None:
    before = chat.retries
    with pytest.raises(ModelError, match="400"):
        await chat.complete("word " * 3000, max_tokens=4)
    assert chat.retries == before


async def test_nobody_else_on_the_machine_may_use_it(chat: ChatModel) -> None:
    provider: Any = chat.provider
    await provider.load()
    async with httpx2.AsyncClient(trust_env=False) as stranger:
        asked = {"messages": [{"role": "user", "content": "Hi"}]}
        answer = await stranger.post(f"{provider._server.listening_address}/v1/chat/completions", json=asked)
    assert answer.status_code == 401


@pytest.fixture
def damaged(tmp_path: Path, weights: Path) -> Path:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(weights.read_bytes()[:100_000])
    return path


async def test_a_damaged_file_is_told(damaged: Path) -> None:
    chat = open_chat(f"llamacpp:{damaged}")
    with pytest.raises(ModelError, match=r"could not load damaged\.gguf"):
        await chat.complete("Hi.")
    await chat.close()
