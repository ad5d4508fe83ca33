"""The measurement of the cycle, on a talk of a few turns."""

from benchmarks import cycle
from benchmarks.cases import Case, Item
from benchmarks.embedders import WordHashEmbedder
from longmind import Longmind

TALK = ("I love growing tomatoes in the greenhouse.", "How much water do the tomatoes need?")


def case(name: str, turns: int) -> Case:
    items = [Item(f"D1:{n}", f"{TALK[n % 2]} Turn {n}.", "one", ("Ana", "Ben")[n % 2]) for n in range(turns)]
    return Case(name, True, tuple(items))


async def test_what_is_told_of_the_cycle() -> None:
    embedder, done = cycle.TimedEmbedder(WordHashEmbedder()), list[float]()
    async with Longmind.open("memory:", embedder=embedder) as longmind:
        backend = longmind.store.backend
        figures = await cycle.measure(longmind, embedder, [case("a", 24), case("b", 12)], done.append)
        assert longmind.store.backend is backend, "the counting one is taken away again"
    told = {name: value for name, value, _ in figures}
    assert told["pages"] == 18
    assert told["pages a second and core"] > 0
    assert {"segment, CPU", "extract, CPU", "profile, CPU", "summarise, CPU"} <= set(told)
    assert told["calls of feed"] == 1
    assert 0 < told["calls of get"] < 20
    assert embedder.seconds > 0
    assert done[-1] == 1.0


async def test_time_of_embedding_is_taken_off() -> None:
    clock = cycle.StageClock(cycle.TimedEmbedder(WordHashEmbedder()))
    clock.begin()
    clock.watch("segment: begin")
    clock.embedder.seconds += 100.0
    clock.watch("segment: write")
    clock.watch("segment: written")
    clock.watch("finish")
    assert set(clock.seconds) == {"between", "segment", "segment, writing"}
    assert clock.seconds["segment"] < -99.0, "a hundred seconds of embedding are not the stage's"
    assert clock.seconds["segment, writing"] > -1.0
