"""An agent with no model and no function: it quotes what it remembers, also from this conversation."""

from __future__ import annotations

from longmind.agent import Agent
from longmind.agent_memory import AgentMemory

ALONE = "No language model is configured, so I can only quote what I remember."


async def test_it_quotes_what_was_said_before_in_the_conversation(mem: AgentMemory) -> None:
    agent = Agent(mem)
    first = await agent.run("My dog is called Rex.", session="s")
    assert first.text == f"I remember nothing about this. {ALONE}"
    await agent.run("The museum opens in May.", session="s")
    outcome = await agent.run("What is my dog called?", session="s")
    assert "Rex" in outcome.text.splitlines()[0]
    assert '- "Rex" in "My dog is called Rex." (user, ' in outcome.text
    assert outcome.text.endswith("(No language model is configured: the answer is taken from memory.)")
    assert "museum" not in outcome.text


async def test_what_it_has_no_answer_to_it_quotes(mem: AgentMemory) -> None:
    await mem.remember("The museum is closed on Mondays.")
    outcome = await Agent(mem).run("Tell me of the museum on Mondays, and what I should wear.")
    assert outcome.text.startswith(f"I do not know: no memory answers this. {ALONE}")
    assert '"The museum is closed on Mondays."' in outcome.text


async def test_it_quotes_neither_the_task_nor_questions_nor_itself(mem: AgentMemory) -> None:
    agent = Agent(mem)
    await agent.run("What is my dog called?", session="s")
    await agent.run("Is my dog called Rex?", session="s")
    for _ in range(2):
        outcome = await agent.run("My dog is called Rex.", session="s")
        assert outcome.text == f"I remember nothing about this. {ALONE}"


async def test_it_does_not_go_on_about_what_was_talked_of_before(mem: AgentMemory) -> None:
    for text in ("The harbour museum shows old maps.", "The museum is closed on Mondays.", "My dog is called Rex."):
        await mem.remember(text, session="earlier")
    agent = Agent(mem)
    await agent.run("I like the museum at the harbour.", session="s")
    await agent.run("When is the museum closed?", session="s")
    outcome = await agent.run("What is my dog called?", session="s")
    assert '"My dog is called Rex."' in outcome.text
    assert "museum" not in outcome.text


async def test_it_quotes_the_same_words_once(mem: AgentMemory) -> None:
    for session in ("monday", "tuesday"):
        await mem.remember("The dog eats fish.", session=session)
    outcome = await Agent(mem).run("What does the dog eat?")
    assert outcome.text.count("The dog eats fish.") == 1


async def test_it_quotes_a_goal_as_a_goal(mem: AgentMemory) -> None:
    await mem.goals.create("Buy fish for the dog")
    outcome = await Agent(mem).run("What should we buy for the dog?")
    assert '"Buy fish for the dog" (goal, ' in outcome.text
