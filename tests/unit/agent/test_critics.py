"""Reflection: objections before an action, conclusions after a run, and what becomes of them."""

from typing import Any

import pytest

from longmind import Longmind
from longmind.agent import (
    Action,
    Agent,
    Call,
    Critique,
    ModelCritic,
    Observation,
    Outcome,
    ReflectiveAgent,
    RuleCritic,
    Say,
    Turn,
)
from longmind.agent.critics import ReflectionDraft, describe_conclusions, draw_conclusions
from longmind.agent.reflection_store import ReflectionStore
from longmind.agent.task_similarity import FROM_TASK, call_shape, in_family, task_family
from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput
from longmind.systems.episodic.models import Lesson
from longmind.systems.procedural import ToolRegistry
from longmind.testing import ScriptedModel
from longmind.types import Memory


def done(tool: str, ok: bool = True, error: str = "refused", **args: Any) -> Observation:
    call = Call(tool=tool, args=args)
    return Observation(call=call, ok=ok, result="fine") if ok else Observation(call=call, ok=ok, error=error)


def outcome(task: str, *observed: Observation, success: bool | None = None, text: str = "") -> Outcome:
    return Outcome(task=task, session="s", ending="answered", text=text, done=observed, success=success)


async def reflections(mem: AgentMemory, state: str = "active") -> list[Memory]:
    return list((await mem.list(kinds=["reflection"], where={"states": (state,)})).items)


def test_a_shape_leaves_out_what_the_task_gave() -> None:
    task = "Refund order 17 of Ann"
    assert call_shape("refund", {"order": 17, "to": "ann", "fast": True}, task) == (
        f'refund({{"fast": true, "order": "{FROM_TASK}", "to": "{FROM_TASK}"}})'
    )
    assert call_shape("refund", {"order": 1}, task) == 'refund({"order": 1})'
    words = task_family(task, [{"order": 17, "to": "Ann"}])
    assert words == ("order", "refund")
    assert in_family("Refund order 23 of Bob", words)
    assert not in_family("Cancel order 23 of Bob", words)
    assert not in_family("Refund order 17", ())


def test_conclusions_tell_what_worked_what_did_not_and_what_comes_first() -> None:
    body = draw_conclusions(
        outcome(
            "Open the door",
            done("push", ok=False, error="locked"),
            done("unlock", ok=False, error="no key"),
            done("fetch_key"),
            done("unlock"),
            success=True,
        )
    )
    assert [call["tool"] for call in body["worked"]] == ["fetch_key", "unlock"]
    assert [call["tool"] for call in body["failed"]] == ["push"]
    assert body["needs"] == [{"do": "fetch_key({})", "before": "unlock({})"}]
    assert body["tools"] == {"push": 1, "unlock": 2, "fetch_key": 1}
    text = describe_conclusions(body)
    assert "Did not work: push({}) -> locked" in text
    assert "Do fetch_key({}) before unlock({})" in text
    assert text.endswith("The task was done.")


async def test_the_rules_object_to_what_failed_in_this_run() -> None:
    critic = RuleCritic()
    turn = Turn(task="t", session="s", done=(done("push", ok=False, error="locked", at=1),))
    again = await critic.before(turn, Call(tool="push", args={"at": 1}))
    assert again is not None
    assert "locked" in again.objection
    assert await critic.before(turn, Call(tool="push", args={"at": 2})) is None
    assert await critic.before(turn, Say(text="I give up")) is None
    better = Turn(task="t", session="s", done=(*turn.done, done("push", at=1)))
    assert await critic.before(better, Call(tool="push", args={"at": 1})) is None


async def test_the_rules_object_with_a_lesson() -> None:
    lesson = Lesson(
        statement="With shout, 0 of 4.", subject="data:tool=shout", advice="avoid", confidence=0.9, episodes=("e1",)
    )
    turn = Turn(task="t", session="s", lessons=(lesson,))
    objection = await RuleCritic().before(turn, Call(tool="shout"))
    assert objection == Critique(objection="With shout, 0 of 4.", evidence=("e1",))
    assert await RuleCritic().before(turn, Call(tool="whisper")) is None


class Shop:
    """A world with a hidden rule: an order must be verified before it is refunded."""

    def __init__(self, mem: AgentMemory) -> None:
        self.verified: set[str] = set()
        self.objections: list[Critique | None] = []
        self.agent = ReflectiveAgent(mem, policy=self.policy, tools=ToolRegistry())
        self.agent.tool(self.refund, name="refund")
        self.agent.tool(self.verify, name="verify")

    def policy(self, turn: Turn) -> Action:
        """Refund at once; verify only when told to think it over, or after a failure."""
        order = turn.task.split()[2]
        self.objections.append(turn.critique)
        if turn.done and turn.done[-1].call.tool == "refund" and turn.done[-1].ok:
            return Say(text="Refunded.", success=True)
        verified = any(d.call.tool == "verify" for d in turn.done)
        failed = bool(turn.done) and not turn.done[-1].ok
        if not verified and (failed or turn.critique is not None):
            return Call(tool="verify", args={"order": order})
        return Call(tool="refund", args={"order": order})

    def verify(self, order: str) -> str:
        self.verified.add(order)
        return "verified"

    def refund(self, order: str) -> str:
        if order not in self.verified:
            raise PermissionError("not verified")
        return "refunded"


async def test_what_was_learnt_with_one_order_helps_with_the_next(mem: AgentMemory) -> None:
    shop = Shop(mem)
    first = await shop.agent.run("Refund order 17 please")
    assert [d.call.tool for d in first.done] == ["refund", "verify", "refund"]
    assert shop.objections == [None] * 4
    assert first.reflection is not None
    kept = await mem.get(first.reflection)
    assert kept is not None
    assert kept.importance == 0.8
    (link,) = await mem.store.links(mem.scope, [kept.id], relation="derived_from")
    assert link.target == first.episode
    second = await shop.agent.run("Refund order 23 please")
    assert [d.call.tool for d in second.done] == ["verify", "refund"]
    objection = next(one for one in shop.objections if one is not None)
    assert "had to be done first" in objection.objection
    assert objection.evidence == (first.reflection,)


async def test_the_same_again_makes_a_reflection_stronger(mem: AgentMemory) -> None:
    keeper, critic = ReflectionStore(mem), RuleCritic()
    ids = []
    for order in (17, 23, 42):
        ended = outcome(f"Refund order {order}", done("refund", order=order), success=True)
        draft = await critic.after(Turn(task=ended.task, session="s"), ended)
        assert draft is not None
        episode = await mem.episodic.start(f"Refund order {order}")
        ids.append(await keeper.keep(draft, episode.id))
    assert len(set(ids)) == 1
    (kept,) = await reflections(mem)
    assert kept.metadata["count"] == 3
    assert round(kept.importance, 2) == 0.6
    assert len(await mem.store.links(mem.scope, [kept.id], relation="derived_from")) == 3


async def test_newer_evidence_supersedes_older(mem: AgentMemory) -> None:
    keeper, critic = ReflectionStore(mem), RuleCritic()

    async def learn(*observed: Observation, success: bool) -> str:
        ended = outcome("Refund order 17", *observed, success=success)
        draft = await critic.after(Turn(task=ended.task, session="s"), ended)
        assert draft is not None
        return await keeper.keep(draft, None)

    old = await learn(done("refund", order=17), done("shout", ok=False), success=True)
    new = await learn(done("refund", ok=False, error="the desk is closed", order=17), success=False)
    assert [memory.id for memory in await reflections(mem)] == [new]
    assert [memory.id for memory in await reflections(mem, "superseded")] == [old]
    (link,) = await mem.store.links(mem.scope, [new], relation="supersedes")
    assert link.target == old
    kept = await mem.get(new)
    assert kept is not None
    assert kept.importance == 0.9
    assert [call["tool"] for call in kept.body["failed"]] == ["shout", "refund"]
    other = await learn(done("refund", order=17), success=True)
    assert [memory.id for memory in await reflections(mem)] == [other]


def test_the_arguments_of_a_call_are_kept_as_data_and_not_without_end() -> None:
    many = {f"extra_{n}": n for n in range(30)}
    ended = outcome("Send it", done("send", to=["ann", {"cc": None}], text="x" * 5_000, nested=[["y" * 300]], **many))
    (call,) = draw_conclusions(ended)["worked"]
    assert call["tool"] == "send"
    assert call["args"]["to"] == ["ann", {"cc": None}]
    assert call["args"]["extra_3"] == 3
    assert len(call["args"]["text"]) <= 200
    assert isinstance(call["args"]["nested"], str), "what is too large is told by its beginning"
    assert len(call["args"]) == 20


async def test_a_chat_that_nobody_judged_teaches_nothing(mem: AgentMemory) -> None:
    assert (await ReflectiveAgent(mem, policy=lambda turn: Say(text="Hi.")).run("Hello")).reflection is None
    wrong = await ReflectiveAgent(mem, policy=lambda turn: Say(text="41"), judge=lambda o: False).run("6 times 7?")
    assert wrong.reflection is not None
    kept = await mem.get(wrong.reflection)
    assert kept is not None
    assert "Answered: 41" in kept.content
    assert "not done" in kept.content


async def test_the_policy_may_insist(mem: AgentMemory) -> None:
    seen: list[Critique | None] = []

    def policy(turn: Turn) -> Action:
        seen.append(turn.critique)
        return Call(tool="push") if len(turn.done) < 2 else Say(text="It does not open.", success=False)

    agent = Agent(mem, policy=policy, critic=RuleCritic(), tools=ToolRegistry())

    @agent.tool
    def push() -> str:
        raise ValueError("locked")

    ended = await agent.run("Open the door")
    assert [d.ok for d in ended.done] == [False, False]
    assert [one is not None for one in seen] == [False, False, True, False]


async def test_a_model_critic_must_quote_the_record(mem: AgentMemory) -> None:
    ended = outcome("Open the door", done("push", ok=False, error="the door is locked"), success=False)
    turn = Turn(task=ended.task, session="s", done=ended.done)
    good = {"lesson": "Find the key first.", "quote": "the door is locked"}
    invented = {"lesson": "Use magic.", "quote": "the wizard said so"}
    model = ScriptedModel(good, invented, "no json", "still none")
    critic = ModelCritic(model.chat())
    kept = await critic.after(turn, ended)
    assert kept is not None
    assert kept.text.endswith("Conclusion: Find the key first.")
    assert kept.body["prompt"] == "conclude@1"
    refused = await critic.after(turn, ended)
    assert refused is not None
    assert "magic" not in refused.text
    assert "refused" in refused.problems[0]
    assert critic.rejected == 1
    broken = await critic.after(turn, ended)
    assert broken is not None
    assert "failed" in broken.problems[0]
    assert critic.usage.requests == 4
    assert "Task: Open the door" in model.requests[0].messages[0].content


async def test_a_model_critic_objects_with_evidence() -> None:
    turn = Turn(task="Open the door", session="s", done=(done("push", ok=False, error="the door is locked"),))
    said = [
        {"objects": True, "objection": "Kicking will not unlock it.", "quote": "the door is locked"},
        {"objects": True, "objection": "I feel so.", "quote": "a feeling"},
        {"objects": False},
    ]
    model = ScriptedModel(*said)
    critic = ModelCritic(model.chat())
    kick = Call(tool="kick")
    assert await critic.before(turn, kick) == Critique(objection="Kicking will not unlock it.")
    assert await critic.before(turn, kick) is None
    assert await critic.before(turn, kick) is None
    assert critic.rejected == 1
    assert await critic.before(Turn(task="Open the door", session="s"), kick) is None
    by_rule = await critic.before(turn, Call(tool="push"))
    assert by_rule is not None
    assert len(model.requests) == 3


def knocking(mem: AgentMemory, model: ScriptedModel, **parts: Any) -> ReflectiveAgent:
    """An agent that knocks twice and then answers, by a policy; the model is only there for a critic."""

    def policy(turn: Turn) -> Action:
        return (
            Say(text="Nobody is home.", success=True)
            if len(turn.done) == 2
            else Call(tool="knock", args={"n": len(turn.done)})
        )

    agent = ReflectiveAgent(mem, policy=policy, chat=model.chat(), tools=ToolRegistry(), **parts)

    @agent.tool
    async def knock(n: int) -> str:
        return "silence"

    return agent


async def test_a_model_reflects_only_if_asked_to_and_its_requests_are_counted(mem: AgentMemory) -> None:
    quiet = ScriptedModel()
    by_rules = await knocking(mem, quiet).run("Knock at the door")
    assert (quiet.requests, by_rules.critic_usage.requests, by_rules.usage.requests) == ([], 0, 0)
    assert by_rules.reflection is not None
    model = ScriptedModel(*[{"objects": False}] * 3, {"lesson": "Ring the bell.", "quote": "silence"})
    asked = await knocking(mem, model, critic="model").run("Knock at the door of the neighbour")
    assert asked.problems == ()
    assert len(model.requests) == 4, "before two calls and the answer, and after the run: n + 2"
    assert asked.critic_usage.requests == asked.usage.requests == 4
    assert asked.reflection is not None
    learnt = await mem.get(asked.reflection)
    assert learnt is not None
    assert "Ring the bell." in learnt.content


async def test_a_critic_is_named_or_given(mem: AgentMemory) -> None:
    with pytest.raises(InvalidInput, match="no critic 'strict'"):
        Agent(mem, critic="strict")  # type: ignore[arg-type]
    alone = await Agent(mem, policy=lambda turn: Say(text="ok", success=True), critic="model").run("Say ok")
    assert alone.text == "ok"
    assert "no model for the critic" in alone.problems[0]
    assert alone.reflection is not None


async def test_what_happened_with_one_user_changes_and_tells_nothing_of_anothers(opened: Longmind) -> None:
    agent, ann, bob = opened.agent("a"), opened.agent("a", user="ann"), opened.agent("a", user="bob")
    task = "Pay the bill"
    hers = draw_conclusions(outcome(task, done("pay"), done("charge", ok=False, error="card heron of Ann is blocked")))
    theirs = draw_conclusions(outcome(task, done("pay", ok=False), done("ask")))
    one = await ReflectionStore(ann).keep(ReflectionDraft(text=describe_conclusions(hers), body=hers), None)
    for mem in (agent, bob):
        other = await ReflectionStore(mem).keep(ReflectionDraft(text=describe_conclusions(theirs), body=theirs), None)
        kept = await mem.get(other)
        assert kept is not None
        assert "heron" not in f"{kept.content} {kept.body}"
        assert kept.user == mem.scope.user
    mine = await ann.get(one)
    assert mine is not None
    assert (mine.state, mine.version) == ("active", 1)
