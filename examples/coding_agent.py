"""A coding agent that learns: it notes what went wrong and what helped, and knows it the next time.

    python examples/coding_agent.py

Expected output:

    task: Make the tests of the parser pass.
    known: nothing
    task: Make the tests of the lexer pass.
    known: The tests need the generated tables; run `make tables` first.
    steps of release: run_tests, tag
    release 1.2: succeeded, tagged v1.2
"""

import asyncio

from longmind import AgentMemory, Longmind

LESSON = "The tests need the generated tables; run `make tables` first."


async def work(mem: AgentMemory, task: str) -> None:
    """Look up what is known for a task, do it, and keep the lesson."""
    hits = await mem.recall(task, k=1, kinds=["message"])
    print(f"task: {task}")
    print(f"known: {hits[0].memory.content if hits else 'nothing'}")
    if not hits:  # the first attempt fails, and the agent finds out why
        await mem.remember({"role": "assistant", "content": LESSON}, tags=["lesson"])


async def main() -> None:
    async with Longmind.open("memory:") as longmind:

        @longmind.tool
        def run_tests() -> bool:
            """Run the tests."""
            return True

        @longmind.tool
        def tag(version: str) -> str:
            """Tag a version."""
            return f"tagged v{version}"

        mem = longmind.agent("coder")
        await work(mem, "Make the tests of the parser pass.")
        await work(mem, "Make the tests of the lexer pass.")

        steps = [
            {"name": "run_tests", "use": "run_tests"},
            {"name": "tag", "use": "tag", "args": {"version": "{{ params.version }}"}},
        ]
        parameters = {"type": "object", "properties": {"version": {"type": "string"}}, "required": ["version"]}
        procedure = {"name": "release", "purpose": "Release a version.", "parameters": parameters, "steps": steps}
        await mem.procedural.store(procedure)
        stored = await mem.procedural.retrieve("release")
        print("steps of release:", ", ".join(step.name for step in stored.procedure.steps))
        run = await mem.procedural.execute("release", {"version": "1.2"})
        print(f"release 1.2: {run.status}, {run.result}")


if __name__ == "__main__":
    asyncio.run(main())
