"""Whatever is said, by whomever, in whatever parts the cycle gets it: it ends, keeps all, and says nothing twice."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind import Longmind
from longmind.consolidate.rules.extraction import extract
from longmind.consolidate.rules.key_sentences import key_phrases, key_sentences
from longmind.consolidate.stages.reconcile import duplicates
from longmind.consolidate.stages.segment import pages_of
from longmind.memory import AgentMemory
from longmind.testing import FakeClock, memory
from longmind.text.sentences import sentences
from longmind.types import Filter, Source

SAID = datetime(2023, 5, 8, 14, tzinfo=UTC)
CITIES, THINGS = ("Lisbon", "Porto", "Rome"), ("tea", "pottery", "the ocean", "chess")
TEXTS = st.text(max_size=200)
WORDS = st.sampled_from(
    """I we my I'm love like live in moved to Lisbon Porto tea , . ! ? and but if not never the a city of capital is was
    by yesterday last week that who " ' - [ ] 12. Inc. sister named Ines puppy adopted going plan""".split()
)
SENTENCES = st.lists(WORDS, max_size=30).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS | SENTENCES, st.sampled_from(["Mel", None]))
def test_extraction_takes_any_text_and_quotes_it(text: str, speaker: str | None) -> None:
    found = extract(text, speaker, SAID)
    for claim in found.claims:
        start, end = claim.span
        assert 0 <= start < end <= len(text)
        assert claim.subject
        assert claim.object
        assert 0 < claim.confidence <= 1
    assert extract(text, speaker, SAID) == found


@settings(max_examples=200, deadline=None)
@given(TEXTS | SENTENCES)
def test_sentences_are_parts_of_the_text_in_order(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        assert sentence.start >= at
        at = sentence.start + len(sentence.text)
        assert at <= len(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS | SENTENCES, max_size=8))
def test_summaries_quote(texts: list[str]) -> None:
    for one in key_sentences(texts):
        assert one.text in sentence_text(texts[one.source])
    assert len(key_phrases(texts)) <= 8


def sentence_text(text: str) -> str:
    return " ".join(sentence.text for sentence in sentences(text))


@settings(max_examples=100, deadline=None)
@given(st.lists(SENTENCES | st.sampled_from(["tea please", "Tea, please!", "no tea please"]), max_size=12))
def test_merging_leaves_a_keeper_for_all_that_goes(texts: list[str]) -> None:
    said = [memory(text) for text in texts]
    found = duplicates(said, np.zeros((len(said), 2), np.float32), 0.9)
    gone = {same.other.id for same in found}
    assert len(gone) == len(found)
    assert all(same.keeper.id not in gone for same in found)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("uaXY"), st.sampled_from("st")), max_size=40))
def test_pages_hold_every_turn_once_and_in_order(who: list[tuple[str, str]]) -> None:
    roles = {"u": Source(role="user"), "a": Source(role="assistant")}
    turns = [memory(str(n), session=s, source=roles.get(w, Source(name=w))) for n, (w, s) in enumerate(who)]
    pages = pages_of(turns)
    assert sorted(m.id for page in pages for m in page) == sorted(m.id for m in turns)
    for page in pages:
        assert len({m.session for m in page}) == 1
        assert [int(m.content) for m in page] == sorted(int(m.content) for m in page)


LINES = st.one_of(
    st.sampled_from(CITIES).map(lambda city: f"I live in {city}."),
    st.sampled_from(THINGS).map(lambda thing: f"I love {thing}."),
    st.sampled_from(CITIES).map(lambda city: f"The capital of Ghana is {city}."),
    st.sampled_from(["Hello.", "tea please", "Tea, please!", "My sister Ines is here."]),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), LINES, st.sampled_from([None, "alice", "bob"]), st.sampled_from([None, "s"])),
        st.tuples(st.just("run"), st.sampled_from([None, "alice"])),
        st.just(("undo",)),
    ),
    max_size=14,
)


async def facts(mem: AgentMemory) -> Counter[tuple[str | None, str]]:
    """What holds now, by user."""
    where = Filter(kinds=("fact",), states=("active",))
    return Counter([(m.user, m.content) async for m in mem.store.scan_all(mem.scope, where) if m.valid_to is None])


@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_the_parts_in_which_it_is_done_make_no_difference(steps: list[tuple[str, ...]]) -> None:
    asyncio.run(_parts(steps))


async def _parts(steps: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for stepwise in (True, False):
            clock = FakeClock(tick=timedelta(seconds=1))
            url = str(Path(folder) / f"{stepwise}.db") if stepwise else "memory:"
            async with Longmind.open(url, embedder="none", clock=clock) as longmind:
                for number, step in enumerate(steps):
                    await _take(longmind, number, step, stepwise=stepwise)
                whole = longmind.agent("a", all_users=True)
                await whole.consolidate()
                assert (await whole.consolidate()).proposed == ()
                found.append(await facts(whole))
        assert found[0] == found[1]
        assert all(n == 1 for n in found[0].values())


async def _take(longmind: Longmind, number: int, step: tuple[str, ...], *, stepwise: bool) -> None:
    if step[0] == "say":
        _, text, user, session = step
        moment = SAID + timedelta(hours=number)
        await longmind.agent("a", user=user).remember(text, session=session, occurred_at=moment)
    elif step[0] == "run" and stepwise:
        await longmind.agent("a", user=step[1], all_users=step[1] is None).consolidate()
    elif step[0] == "undo" and stepwise:
        before = await longmind.store.content_hash(longmind.agent("a", all_users=True).scope)
        report = await longmind.agent("a", all_users=True).consolidate()
        if report.stages:
            await longmind.agent("a", all_users=True).undo(report.id)
            assert await longmind.store.content_hash(longmind.agent("a", all_users=True).scope) == before
