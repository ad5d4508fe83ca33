"""Customer support: agents share what they found out about the product, and nothing about the customers.

    python examples/customer_support.py

Expected output:

    shared: The router needs a restart after an update.
    newcomer knows: The router needs a restart after an update. (shared: True)
    about customers: nothing
"""

import asyncio

from longmind import Longmind

FINDING = "The router needs a restart after an update."


async def main() -> None:
    async with Longmind.open("memory:", embedder="none") as longmind:
        for desk, customer in (("lisbon", "ann"), ("porto", "bob"), ("faro", "cai")):
            await longmind.agent(desk, user=customer).remember(f"My name is {customer} and my address is Mill Lane 3.")
            mem = longmind.agent(desk)
            await mem.remember(FINDING)
            await mem.consolidate()  # three agents say the same, so it becomes shared

        newcomer = longmind.agent("braga")
        for entry in await newcomer.shared.list():
            print("shared:", entry.text)
        hits = await newcomer.recall("What does the router need after an update?", k=1)
        print(f"newcomer knows: {hits[0].memory.content} (shared: {bool(hits[0].shared)})")
        private = [hit for hit in await newcomer.recall("Mill Lane") if "Mill Lane" in hit.memory.content]
        print("about customers:", private or "nothing")


if __name__ == "__main__":
    asyncio.run(main())
