"""How far two readers agree about what a turn does to a known fact: ``python -m training.changes.agreement``.

``second.jsonl`` holds what somebody found who read some of the turns with their known facts, without seeing a label.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from training.changes.turns import DATA, read_turns

SECOND = Path(__file__).with_name("second.jsonl")


def main() -> None:
    labelled = {
        (turn.subject, turn.relation, turn.object, turn.text): turn
        for path in sorted(DATA.glob("*.jsonl"))
        for turn in read_turns(path)
    }
    pairs, values = [], []
    for line in SECOND.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        turn = labelled[*entry["known"], entry["text"]]
        pairs.append((turn.gone, entry["gone"]))
        if turn.gone and entry["gone"]:
            first, second = turn.new and turn.text[slice(*turn.new)], entry["new"]
            values.append(first == second if None in (first, second) else first in second or second in first)
    alike = sum(first == second for first, second in pairs) / len(pairs)
    shares = [sum(pair[n] for pair in pairs) / len(pairs) for n in (0, 1)]
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    kappa = (alike - chance) / (1 - chance)
    sys.stdout.write(
        f"{len(pairs)} turns: whether the fact is gone, alike {alike:.3f}, kappa {kappa:.2f}; "
        f"the new value alike in {sum(values)} of {len(values)}\n"
    )


if __name__ == "__main__":
    main()
