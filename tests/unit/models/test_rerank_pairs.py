"""What the reranker reads."""

from hypothesis import given
from hypothesis import strategies as st

from longmind.models.rerank_pairs import (
    CLS,
    QUESTION,
    SEP,
    SHIPPED,
    TEACHER,
    TEXT,
    asked_alone,
    pair,
    passage,
    passages_alone,
    text_alone,
)

pieces = st.lists(st.integers(1_000, 30_000), max_size=400)


@given(pieces, pieces, pieces, pieces)
def test_a_pair_is_bounded_and_begins_with_the_question(question, text, before, after):
    ids, head = pair(question, text, before, after)
    assert ids[:head] == [CLS, *question[: TEACHER.question], SEP]
    assert len(ids) <= TEACHER.total
    assert ids[-1] == SEP


@given(pieces, pieces, pieces, pieces)
def test_a_text_alone_is_bounded_and_has_nothing_of_the_question(question, text, before, after):
    ids, head = text_alone(question, text, before, after)
    assert ids[:2] == [CLS, TEXT]
    assert ids[head - 1] == ids[-1] == SEP
    assert len(ids) <= SHIPPED.total - SHIPPED.question
    assert set(ids) <= {CLS, TEXT, SEP, *text, *before, *after}
    if len(text) <= SHIPPED.text:
        assert text_alone([], text, before, after) == (ids, head)


@given(pieces, pieces, pieces, pieces)
def test_every_passage_that_a_question_can_choose_is_listed_once(question, text, before, after):
    listed = passages_alone(text, before, after)
    assert text_alone(question, text, before, after) in listed
    if len(text) <= SHIPPED.text:
        assert len(listed) == 1
    else:
        step = SHIPPED.text // 2
        assert [ids[2 : head - 1] for ids, head in listed] == [
            text[start : start + SHIPPED.text] for start in range(0, len(text) - SHIPPED.text + step, step)
        ]
        assert listed[-1][0][2 : listed[-1][1] - 1][-1] == text[-1]


@given(pieces)
def test_a_question_alone_is_bounded(question):
    assert asked_alone(question) == [CLS, QUESTION, *question[: SHIPPED.question], SEP]


@given(pieces, pieces)
def test_a_passage_is_a_part_of_its_text(question, text):
    part = list(passage(question, text, SHIPPED.text))
    assert len(part) <= SHIPPED.text
    assert any(text[start : start + len(part)] == part for start in range(len(text) + 1))


def test_the_passage_with_the_rare_words_of_the_question_is_read():
    common, rare = 2_000, 20_000
    text = [common] * 300 + [rare] + [5_000] * 100
    assert rare in passage([common, rare], text, SHIPPED.text)
