"""Tokens are estimated alike wherever a budget is kept."""

from longmind.tokens import estimate


def test_tokens_are_estimated() -> None:
    assert [estimate(text) for text in ("", "a", "abcd", "abcde", "日本語", "né")] == [0, 1, 1, 2, 3, 2]
