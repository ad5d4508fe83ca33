"""What memory brings into a run: once each, the conversation told as one, and what is in it still to be quoted."""

from __future__ import annotations

from longmind.agent import Agent, Limits, MemoryRecall, Say, Turn
from longmind.agent.recall import RecalledContext
from longmind.agent_memory import AgentMemory


async def talk(mem: AgentMemory, session: str, *said: str) -> None:
    """Tell an agent something, each in a run of its own."""
    agent = Agent(mem, policy=lambda turn: Say(text="I see."))
    for text in said:
        await agent.run(text, session=session)


async def brought(mem: AgentMemory, task: str, session: str = "now", limits: Limits | None = None) -> RecalledContext:
    return await MemoryRecall(mem).gather(task, session, "no such run", limits or Limits())


async def test_a_run_is_told_by_the_message_that_began_it_or_by_its_episode_and_not_twice(mem: AgentMemory) -> None:
    await talk(mem, "old", "My dog is called Rex.")
    found = await brought(mem, "What is my dog called?")
    told = [(hit.memory.kind, hit.memory.content) for hit in found.memories if "Rex" in hit.memory.content]
    assert told == [("message", "My dog is called Rex.")]
    assert found.context.count("My dog is called Rex.") == 1
    (message,) = [hit.memory.id for hit in found.memories if "Rex" in hit.memory.content]
    await mem.update(message, state="archived")
    again = await brought(mem, "What is my dog called?")
    assert [hit.memory.kind for hit in again.memories if "Rex" in hit.memory.content] == ["episode"]


async def test_what_was_said_in_the_conversation_is_a_memory_but_told_only_once(mem: AgentMemory) -> None:
    await mem.remember("Rex is a dachshund.", session="earlier")
    await talk(mem, "now", "My dog is called Rex.", "The museum opens in May.")
    found = await brought(mem, "What is my dog called?")
    contents = [hit.memory.content for hit in found.memories]
    assert contents[0] == "My dog is called Rex."
    assert "Rex is a dachshund." in contents
    assert [hit.score for hit in found.memories] == sorted((hit.score for hit in found.memories), reverse=True)
    assert "My dog is called Rex." in [message.content for message in found.conversation]
    assert "Rex is a dachshund." in found.context
    assert "My dog is called Rex." not in found.context


async def test_the_task_itself_is_no_memory_of_it(mem: AgentMemory) -> None:
    seen: list[Turn] = []

    def policy(turn: Turn) -> Say:
        seen.append(turn)
        return Say(text="I see.")

    agent = Agent(mem, policy=policy)
    for task in ("My dog is  called Rex.", "my dog is called REX.", "My dog is called Rex."):
        await agent.run(task, session="now")
    messages = [hit.memory.content for turn in seen for hit in turn.memories if hit.memory.kind == "message"]
    assert set(messages) <= {"I see."}


async def test_what_was_said_takes_no_place_from_other_memories(mem: AgentMemory) -> None:
    dogs = [f"Dog number {n} is brown." for n in range(4)]
    for text in dogs:
        await mem.remember(text, session="earlier")
    await talk(mem, "now", *(f"The dog next door barked {n} times." for n in range(4)))
    found = await brought(mem, "Tell me about the dog.", limits=Limits(memories=3))
    contents = {hit.memory.content for hit in found.memories}
    assert len(contents.intersection(dogs)) == 3
    assert len(found.memories) <= 6
