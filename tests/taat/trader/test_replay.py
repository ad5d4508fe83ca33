"""The benchmark of the loop: what it counts adds up."""

from benchmarks.taat_replay import figures


async def test_a_replay_tells_what_it_did() -> None:
    told = {name: value for name, value, _ in await figures(80)}
    assert told["posts"] == 80
    assert told["errors"] == 0
    assert told["signals followed"] > 0
    assert told["executions"] > 0
    assert 0 < told["posts that announce something"] < 20
    assert told["posts a second and core"] > 0
