"""Which turns make a page."""

from longmind.consolidate.stages.segment import pages_of
from longmind.testing import memory
from longmind.types import Memory, Source


def turns(*who: str, session: str = "s") -> list[Memory]:
    """Turns by speakers: u and a are a user and the assistant, other letters are names."""
    sources = {"u": Source(role="user"), "a": Source(role="assistant")}
    return [memory(f"{n}", session=session, source=sources.get(w, Source(name=w))) for n, w in enumerate(who)]


def told(pages: list[list[Memory]]) -> list[str]:
    return ["".join(m.content for m in page) for page in pages]


def test_a_turn_and_its_answer() -> None:
    assert told(pages_of(turns(*"uaua"))) == ["01", "23"]
    assert told(pages_of(turns(*"uuaauu"))) == ["0123", "45"]
    assert told(pages_of(turns(*"au"))) == ["0", "1"] or told(pages_of(turns(*"au"))) == ["01"]


def test_two_named_speakers_take_turns() -> None:
    assert told(pages_of(turns(*"XYXYX"))) == ["01", "23", "4"]
    assert told(pages_of(turns(*"XYZX"))) == ["012", "3"]


def test_sessions_do_not_mix() -> None:
    one, other = turns(*"uaua", session="s"), turns(*"ua", session="t")
    mixed = [one[0], other[0], one[1], other[1], one[2], one[3]]
    assert [[m.session for m in page] for page in pages_of(mixed)] == [["s", "s"], ["t", "t"], ["s", "s"]]


def test_every_turn_is_in_one_page() -> None:
    given = turns(*"uauuaXYuaaaXu" * 5)
    assert sorted(m.id for page in pages_of(given) for m in page) == sorted(m.id for m in given)
