"""Documents are cut into passages that keep every character and know their place."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from longmind.perceive.documents import split_passages

GUIDE = """Before any heading.

# Guide

Intro text.

## Setup ##

Do this. Then that.

```
# not a heading
```

Other
=====

Last part.
"""


def test_passages_stand_under_their_headings() -> None:
    found = {p.headings: p.text for p in split_passages(GUIDE, 1000)}
    assert set(found) == {(), ("Guide",), ("Guide", "Setup"), ("Other",)}
    assert "# not a heading" in found[("Guide", "Setup")]
    assert found[()] == "Before any heading."


@given(st.text(alphabet="ab .\n#=日。", max_size=400), st.integers(min_value=20, max_value=80))
def test_nothing_but_white_space_is_lost_and_spans_are_exact(text: str, size: int) -> None:
    found = list(split_passages(text, size))
    assert all(text[p.start : p.end] == p.text for p in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    kept = "".join(text[p.start : p.end] for p in found)
    assert "".join(kept.split()) == "".join(text.split())


@given(st.text(alphabet="abc .\n", min_size=1, max_size=2000))
def test_passages_keep_to_the_size(text: str) -> None:
    assert all(len(p.text) <= 200 for p in split_passages(text, 200))


def test_a_long_text_without_spaces_is_cut() -> None:
    found = list(split_passages("x" * 950, 200))
    assert [len(p.text) for p in found] == [200, 200, 200, 200, 150]
