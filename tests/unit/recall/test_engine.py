"""From a question to hits: what comes first, what is left out, and what is said about it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.embedders import WordHashEmbedder
from longmind.errors import InvalidInput
from longmind.recall.engine import MAX_QUERY, Recaller
from longmind.recall.policy import RecallPlan
from longmind.recall.query import Query
from longmind.recall.rerank import LocalReranker
from longmind.store.base import Space
from longmind.store.inmem import InmemBackend
from longmind.store.store import Store
from longmind.testing import FakeClock, memory
from longmind.types import Message, Scope, Source


async def test_a_turn_is_found_by_what_was_said_around_it(world: Any) -> None:
    await world.add("Where did you buy that wonderful guitar?", session="s1")
    await world.add("At the flea market near the old station.", session="s1")
    await world.add("Nice weather for a walk today.", session="s2")
    await world.add("I had soup for lunch.", session="s2")
    hits = await world.recaller.recall(world.scope, "where did the guitar come from?")
    assert {h.memory.content for h in hits[:2]} == {
        "Where did you buy that wonderful guitar?",
        "At the flea market near the old station.",
    }
    answer = next(h for h in hits if "flea" in h.memory.content)
    assert "said around it: 'guitar'" in answer.why


async def test_a_neighbour_that_arrives_later_gives_its_words_to_those_already_there(world: Any) -> None:
    await world.add("At the flea market.", session="s1")
    before = await world.recaller.recall(world.scope, "guitar")
    assert not any("guitar" in hit.why for hit in before)
    await world.add("That is where my guitar is from.", session="s1")
    after = {h.memory.content: h.why for h in await world.recaller.recall(world.scope, "guitar")}
    assert "said around it: 'guitar'" in after["At the flea market."]


async def test_the_later_value_of_a_statement_comes_first_and_the_earlier_says_so(world: Any) -> None:
    for text in ("The capital of Ruritania is Strelsau.", "The river of Ruritania is long.", "Cats sleep a lot."):
        await world.add(text)
        world.clock.advance(60)
    await world.add("The capital of Ruritania is Zenda.")
    hits = await world.recaller.recall(world.scope, "What is the capital of Ruritania?")
    assert hits[0].memory.content == "The capital of Ruritania is Zenda."
    earlier = next(h for h in hits if "Strelsau" in h.memory.content)
    assert "said again with another value" in earlier.why
    assert earlier.score < hits[0].score


async def test_a_superseded_fact_ranks_below_what_replaced_it_even_when_only_it_matches(world: Any) -> None:
    old = await world.add("Alice lives in Porto", kind="fact", state="superseded")
    new = await world.add("Her home is Lisbon now", kind="fact")
    await world.link(new, "supersedes", old)
    hits = await world.recaller.recall(world.scope, "does Alice live in Porto?")
    assert [h.memory.id for h in hits[:2]] == [new.id, old.id]
    assert "replaces what was known before" in hits[0].why
    assert "superseded: something newer replaced it" in hits[1].why


async def test_as_of_answers_as_the_world_was(world: Any) -> None:
    moved = datetime(2024, 5, 1, tzinfo=UTC)
    await world.add("Alice lives in Porto", kind="fact", state="superseded", valid_to=moved)
    await world.add("Alice lives in Lisbon", kind="fact", valid_from=moved)
    await world.add("Alice bought a lamp", occurred_at=moved + timedelta(days=30))
    asked = "where does Alice live, and what about the lamp?"
    assert (await world.ask(asked, as_of=moved - timedelta(days=1))) == ["Alice lives in Porto"]
    assert (await world.ask(asked, as_of=moved + timedelta(days=1))) == ["Alice lives in Lisbon"]
    assert len(await world.ask(asked)) == 3


async def test_known_at_answers_as_the_agent_knew(world: Any) -> None:
    await world.add("The door code is 1234", recorded_at=datetime(2024, 1, 1, tzinfo=UTC))
    await world.add("The door code is 9999", recorded_at=datetime(2024, 3, 1, tzinfo=UTC))
    assert (await world.ask("door code", known_at=datetime(2024, 2, 1, tzinfo=UTC))) == ["The door code is 1234"]


async def test_filters_narrow_and_unknown_keys_are_refused(world: Any) -> None:
    await world.add("red house", session="s1", tags=("home",))
    await world.add("red boat", session="s2", kind="fact", metadata={"label": "x"})
    assert await world.ask("red", session="s1") == ["red house"]
    assert await world.ask("red", kinds=["fact"]) == ["red boat"]
    assert await world.ask("red", where={"tags_any": ("home",)}) == ["red house"]
    assert await world.ask("red", where={"metadata": {"label": "x"}}) == ["red boat"]
    assert await world.ask("red", kinds=["fact"], where={"kinds": ("message",)}) == []
    with pytest.raises(InvalidInput, match="no sesion"):
        await world.ask("red", where={"sesion": "s1"})
    with pytest.raises(InvalidInput, match="list of texts"):
        await world.ask("red", kinds="fact")
    with pytest.raises(InvalidInput, match="given twice"):
        await world.ask(
            "red", since=datetime(2024, 1, 1, tzinfo=UTC), where={"since": datetime(2023, 1, 1, tzinfo=UTC)}
        )


async def test_longminds_own_records_are_recalled_only_when_asked_for(world: Any) -> None:
    await world.add("red settings", kind="configuration")
    assert await world.ask("red") == []
    assert await world.ask("red", kinds=["configuration"]) == ["red settings"]


async def test_what_a_hit_is_linked_to_comes_along(world: Any) -> None:
    fact = await world.add("Alice plays the cello", kind="fact")
    concept = await world.add("Bach suites", kind="concept")
    await world.add("Nothing to do with it", kind="concept")
    await world.link(fact, "about", concept)
    hits = await world.recaller.recall(world.scope, "who plays the cello?", kinds=["fact", "concept"])
    linked = next(h for h in hits if h.memory.id == concept.id)
    assert "linked to another hit by 'about'" in linked.why
    assert "Nothing to do with it" not in [h.memory.content for h in hits]


async def test_a_quoted_phrase_is_heard_word_for_word(world: Any) -> None:
    await world.add("the house is red and the door is old and the roof is new")
    await world.add("we painted the old red door")
    hits = await world.recaller.recall(world.scope, 'who spoke of the "old red door"?')
    assert hits[0].memory.content == "we painted the old red door"
    assert "says 'old red door' word for word" in hits[0].why


async def test_the_time_a_question_names_decides_between_equals(world: Any) -> None:
    world.clock.set(datetime(2024, 7, 10, tzinfo=UTC))
    await world.add("We went sailing", occurred_at=datetime(2024, 5, 5, tzinfo=UTC), session="a")
    await world.add("We went sailing", occurred_at=datetime(2024, 6, 20, tzinfo=UTC), session="b")
    hits = await world.recaller.recall(world.scope, "when did we go sailing last May?")
    assert hits[0].memory.occurred_at.month == 5
    assert "happened on 5 May 2024, as asked ('last May')" in hits[0].why


async def test_an_assistants_words_count_less_unless_they_are_asked_for(world: Any) -> None:
    long = " ".join(f"word{i}" for i in range(300))
    await world.add(
        f"I recommend a good rope for sailing and this knot {long}", session="s", source=Source(role="assistant")
    )
    await world.add(f"I bought a rope for sailing with a knot {long}", session="s", source=Source(role="user"))
    assert (await world.ask("rope for a knot when sailing"))[0].startswith("I bought")
    assert (await world.ask("what rope and knot did you recommend for sailing?"))[0].startswith("I recommend")


async def test_scores_run_from_0_to_1_and_say_how_sure_recall_is(world: Any) -> None:
    await world.add("Alice adopted a puppy called Biscuit")
    await world.add("The trains were late")
    sure = await world.recaller.recall(world.scope, "puppy called Biscuit")
    unsure = await world.recaller.recall(world.scope, "Alice quantum chromodynamics lecture notes from Heidelberg")
    assert 1 >= sure[0].score > 0.6
    assert unsure[0].score < 0.3
    assert await world.ask("Alice quantum chromodynamics lecture notes from Heidelberg", min_score=0.3) == []


async def test_explain_gives_every_number(world: Any) -> None:
    await world.add("Alice adopted a puppy", session="s")
    brief = (await world.recaller.recall(world.scope, "puppy"))[0].parts
    full = (await world.recaller.recall(world.scope, "puppy", explain=True))[0].parts
    assert set(brief) < set(full)
    assert {"words around", "meaning", "cosine", "fullness", "priors"} <= set(full)


async def test_a_policy_of_the_users_chooses_kinds_and_weights(world: Any) -> None:
    class OnlyFacts:
        name, priority = "only facts", 10

        def applies(self, query: Query) -> bool:
            return "FACT" in query.text

        def choose(self, query: Query, plan: RecallPlan) -> RecallPlan:
            return replace(plan, kinds=("fact",))

    await world.add("red house")
    await world.add("red boat", kind="fact")
    world.recaller.register(OnlyFacts())
    assert await world.ask("FACT red") == ["red boat"]
    assert await world.ask("FACT red", kinds=["message"]) == ["red house"], "the caller's word goes before a policy's"
    assert len(await world.ask("red")) == 2
    with pytest.raises(InvalidInput, match="no recall policy"):
        world.recaller.register(object())


async def test_a_reranker_has_its_share_of_the_order(world: Any) -> None:
    await world.add("red house on the hill")
    await world.add("red boat on the lake")
    world.recaller.reranker = LocalReranker(lambda query, texts: [float("boat" in t) * 10 for t in texts])
    hits = await world.recaller.recall(world.scope, "red house")
    assert hits[0].memory.content == "red boat on the lake"
    assert hits[0].parts["reranker"] == 1.0


async def test_reads_are_counted_once_a_recall(world: Any) -> None:
    made = await world.add("red house")
    await world.ask("red")
    await world.ask("house")
    await world.recaller.flush()
    assert (await world.store.get(world.scope, made.id)).access_count == 2


async def test_recall_beside_a_conversation_leaves_out_what_the_conversation_says_itself(world: Any) -> None:
    await world.add("My sister Nora is allergic to peanuts", session="old")
    await world.add("I want to bake a cake for Nora with peanuts", session="now")
    talk = [Message(content="I want to bake a cake for Nora with peanuts")]
    hits = await world.recaller.recall(world.scope, "bake a cake for Nora", k=3, conversation=talk)
    assert [h.memory.content for h in hits][:1] == ["My sister Nora is allergic to peanuts"]
    assert await world.recaller.recall(world.scope, "zebra xylophone", k=3, min_score=0.35) == []


async def test_questions_in_other_languages_find_their_texts(world: Any) -> None:
    await world.add("私は東京に住んでいます。")
    await world.add("昨日、大阪で寿司を食べました。")
    await world.add("Мы переехали в Лиссабон весной.")
    await world.add("Das Café in der Straße schließt um acht.")
    assert (await world.ask("東京のどこに住んでいますか"))[0].startswith("私は東京")
    assert (await world.ask("寿司"))[0].startswith("昨日")
    assert (await world.ask("Лиссабон"))[0].startswith("Мы")
    assert (await world.ask("cafe STRASSE"))[0].startswith("Das")


@pytest.mark.parametrize("query", ["", "   ", "?!…", "the of and", "\x00", "' OR 1=1 --", "(((", "\ud800", "a" * 5_000])
async def test_odd_questions_are_answered(world: Any, query: str) -> None:
    await world.add("red house")
    assert isinstance(await world.ask(query), list)


async def test_a_question_of_a_megabyte_is_answered_and_a_longer_one_refused(world: Any) -> None:
    await world.add("red house")
    assert await world.ask(("red house " * 200_000)[:MAX_QUERY]) == ["red house"]
    with pytest.raises(InvalidInput, match="at most"):
        await world.ask("x" * (MAX_QUERY + 1))


@pytest.mark.parametrize("wrong", [{"k": 0}, {"k": 1001}, {"min_score": 1.5}, {"min_score": -0.1}])
async def test_impossible_options_are_refused(world: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        await world.ask("red", **wrong)


async def test_an_empty_store_has_no_answer(world: Any) -> None:
    assert await world.ask("anything") == []
    assert await world.recaller.context(world.scope, "anything") == ""


async def test_recall_works_without_an_embedder(world: Any) -> None:
    await world.add("red house")
    recaller = Recaller(world.store, None, world.clock)
    assert [h.memory.content for h in await recaller.recall(world.scope, "red")] == ["red house"]
    await recaller.close()


@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=60),
        max_size=8,
    ),
    query=st.text(max_size=80),
    k=st.integers(1, 12),
)
@settings(max_examples=40, deadline=None)
async def test_any_question_of_any_texts_gives_sound_hits(texts: list[str], query: str, k: int) -> None:
    clock, backend = FakeClock(), await InmemBackend.open()
    await backend.declare_space(Space(WordHashEmbedder.name, WordHashEmbedder.dimensions))
    store, scope = Store(backend, clock), Scope(agent="a")
    for number, text in enumerate(texts):
        made = memory(text, scope=scope, clock=clock, session=f"s{number % 3}")
        await store.put(scope, made, (await WordHashEmbedder().embed([text]))[0])
    recaller = Recaller(store, WordHashEmbedder(), clock)
    hits = await recaller.recall(scope, query, k=k)
    assert len(hits) <= k
    assert len({h.memory.id for h in hits}) == len(hits)
    assert all(0 <= h.score <= 1 and h.why for h in hits)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    await recaller.close()
    await store.close()


async def test_a_vector_of_another_space_is_not_compared_though_it_is_as_long(world: Any) -> None:
    """The embedder was changed between the question's vector and the view."""

    class Renamed(WordHashEmbedder):
        name = "made-up-too"

    await world.add("red house")
    (mine,) = await world.recaller.recall(world.scope, "red house")
    other = Recaller(world.store, Renamed(), world.clock)
    (hit,) = await other.recall(world.scope, "red house")
    assert mine.parts["cosine"] > 0.9
    assert hit.parts["cosine"] == 0
    await other.close()


async def test_what_is_written_while_a_question_is_answered_does_not_disturb_it(world: Any) -> None:
    old = await world.add("Alice lives in Porto", kind="fact", state="superseded")
    found = world.store.get_all
    late: list[Any] = []

    async def slow(*asked: Any) -> list[Any]:
        if not late:
            late.append(await world.add("Alice lives in Lisbon", kind="fact"))
            await world.link(late[0], "supersedes", old)
            await world.store.view(world.scope)  # another question brings the view up to date meanwhile
        return list(await found(*asked))

    world.store.get_all = slow
    assert await world.ask("where does Alice live?") == ["Alice lives in Porto"]
    assert (await world.ask("where does Alice live?"))[0] == "Alice lives in Lisbon"
