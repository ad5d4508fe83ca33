"""The index terms of fixed texts, byte for byte: stores hold terms that every earlier release wrote."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

import pytest
from tests.unit.store.search.rows import made

from longmind.text.index_terms import index_terms
from longmind.types import Source

TEXTS = {
    "": "dedd6bd872c9d007",
    "   \n\t ": "dedd6bd872c9d007",
    "The lighthouse keepers were painting their boats again.": "1772db349c9a28d0",
    "Isn't it odd? They'd've said so; we'll see, y'all. Rock'n'roll's dead.": "cbcaa38b390704fa",
    "Meet me on 3 March 2024 at 14:30, or on 2024-03-04, the 5th, or next Tuesday.": "441d2969b3dad274",
    "It cost $1,299.99 (about €1.200), 15% less than in 1998; room B12, floor -2.": "a13b47663ea2281b",
    "Yesterday I bought a dozen eggs, twice, and this week just one.": "e0048f3817c91ad8",
    "this_week is not a word and neither is one_two": "1b116e557d127ee6",
    "La niña pequeña comió piñas en el jardín de Núñez, ¿verdad?": "c9019b4eb36bab3e",
    "Größere Straßen führen über Österreich; ﬁne ﬂour, ½ cup, x² and Ⅷ": "b32615061c474aa2",
    "ＣＡＰＩＴＡＬＳ\u3000ｉｎ\u3000ｆｕｌｌ\u3000ｗｉｄｔｈ １２３": "098cade980b9413c",
    "昨日、友達と京都で抹茶アイスを食べた。とても美味しかった！": "5c23a04a4677fe8e",
    "나는 내일 서울에 간다. 你好世界，我们下周见？": "f09723a1a71d13ca",
    "ฉันชอบกินข้าวผัด และ ភាសាខ្មែរ": "d74ea744ab5d0bee",
    "Привет, мир! Ёлка, Їжак и 3 кота. Γειά σου Κόσμε": "69bbb5dea6ac59c2",
    "مرحبا بالعالم ٣ أيام शुभ प्रभात १२": "44c491bd553898f5",
    "Family: 👨\u200d👩\u200d👧 and cafe\u0301 with zero\u200bwidth and soft\u00adhyphen": "2810321fd29d6191",
    "donaudampfschifffahrtsgesellschaftskapitaensmuetzenabzeichenfabrik" * 2: "2edfb2aaf1fef1df",
    "pneumonoultramicroscopicsilicovolcanoconiosis " + "a" * 64 + " " + "b" * 63 + " " + "c" * 65: "98f3f867f78b793b",
    "again and again and again " * 120: "d61fee0ab49cbb14",
    "snake_case camelCase kebab-case a.b.c user@example.org https://example.org/x?y=1#z": "747c755b9b1e78df",
    "‘Quoted’ “text” with ’tis and dogs’ and the ’90s": "cfc4a7956904ba2c",
    "Who said it? Nobody did!?": "5155cefa02025597",
    "\x01asks \x02control \x7f characters": "7942fbab3b9fe794",
    "\u0130stanbul'da \u0131\u015f\u0131k \u01c5 \u0149 \u212a \u212b": "d570a621bd340d40",
    "MAY I may in May, march in March; sun on Sunday": "9bf8d9a3d80032a0",
}
"""Invented texts, each with the beginning of the hash of its terms."""
DAYS = {
    1: "050200000037ea936b9b8ed26d25c4efa2f90c92a6a9860cb184772fc4010101010101",
    2: "0502000000d83b9550ae2bb18425c4efa2a9860cb184772fc46f3c95d1010101010101",
    3: "0502000000d56d9c48824abf6ab7b9d67e25c4efa2a9860cb184772fc4010101010101",
    4: "0502000000435d9b3f8567078d25c4efa2df4801aea9860cb184772fc4010101010101",
    5: "0502000000e0c8ffa125c4efa2a9860cb184772fc477155ad61f1271ea010101010101",
    6: "05020000005b74543825c4efa2a9860cb184772fc476f8f8d63eb143e1010101010101",
    7: "0502000000cca9f14f25c4efa2a9860cb184772fc46ed137d1979fc3da010101010101",
    8: "05020000005a99f63842b0393f25c4efa2a9860cb184772fc4f2e8e9e4010101010101",
    9: "05020000007040a93825c4efa2cb8449a8a9860cb184772fc4459d81d8010101010101",
    10: "050200000025c4efa2a9860cb184772fc45db44edffcf8f2e6b44677fd010101010101",
    11: "05020000009827791325c4efa2a9860cb1b83d89bf84772fc400ccf9eb010101010101",
    12: "05020000006a50156725c4efa2a9860cb184772fc42e0d8ec8ad821afa010101010101",
}
"""The terms of one text on a day of each month: the day is searched by its name."""
PASSAGE = (
    "0506000000a0211201c4bedb100dbed51a9c6b2e1e880d5524b1f3d0393cfeb943235cb449420af34c39c12359c0695a5b45"
    "a813616a501567b64527671d5fc47f0b21069570be609ef9b293a21ebd98d0a4d12adced5ea3e3f5776ce449adb0f1381bb6"
    "f3da1433fb01010101010101010101010101010101010101010101010101"
)


@pytest.mark.parametrize("text", TEXTS)
def test_index_terms_of_a_text(text: str) -> None:
    memory = made(text, occurred_at=datetime(2024, 2, 9, 8, 30, tzinfo=UTC), source=Source(name="Zoë O'Hara"))
    assert sha256(index_terms(memory)).hexdigest()[:16] == TEXTS[text]


@pytest.mark.parametrize("month", DAYS)
def test_index_terms_of_a_day(month: int) -> None:
    memory = made("Nothing to report", occurred_at=datetime(1999 + month, month, 2 * month + 1, 23, 59, tzinfo=UTC))
    assert index_terms(memory).hex() == DAYS[month]


def test_index_terms_of_a_passage_with_tags_and_headings() -> None:
    memory = made(
        "Rinse the filter weekly. Replace it after 40 cycles.",
        kind="document",
        occurred_at=datetime(2021, 12, 31, tzinfo=UTC),
        tags=("manual", "Coffee machine", "größe-2"),
        body={"headings": ["Care & cleaning", "Step 4: the water filter", 7]},
        source=Source(role="document", name="Brewmaster 3000", uri="file:///manual.md"),
    )
    assert index_terms(memory).hex() == PASSAGE
