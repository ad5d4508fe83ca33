"""Summaries are made of the text's own sentences."""

from longmind.consolidate.rules.key_sentences import key_phrases, key_sentences

TALK = [
    "Hey, how are you?",
    "I signed up for a pottery class in the old town, and the pottery teacher is wonderful.",
    "Wow, cool!",
    "The pottery class meets every Tuesday evening and we fire our bowls in a wood kiln.",
    "My brother Tom will visit the pottery exhibition with me in June.",
    "Great, thanks!",
]


def test_what_a_talk_comes_back_to() -> None:
    assert key_phrases(TALK)[0] == "pottery class"
    assert key_phrases([]) == []


def test_the_sentences_are_the_talks_own_and_in_order() -> None:
    found = key_sentences(TALK, 2)
    assert [TALK[one.source][one.start : one.start + len(one.text)] for one in found] == [one.text for one in found]
    assert [one.source for one in found] == sorted(one.source for one in found)
    assert all("pottery" in one.text for one in found)


def test_small_talk_and_questions_are_no_summary() -> None:
    assert key_sentences(["Hey!", "How are you doing today my friend?", "Wow, so cool, thanks."]) == []


def test_what_repeats_another_is_left_out() -> None:
    same = "The pottery class meets every Tuesday evening in the old town."
    assert len(key_sentences([same, same, same])) == 1
