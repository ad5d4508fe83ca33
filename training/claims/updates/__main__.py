"""Print how many dialogues change what they should.

python -m training.claims.updates [--set unseen] [--list] [--statements-alone]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from unittest import mock

from longmind.consolidate import cycle
from longmind.models.statements import open_statement_reader
from training.claims.updates import FILES, Outcome, dialogues, measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=list(FILES), default="dialogues")
    parser.add_argument("--list", action="store_true", help="show what is not right")
    parser.add_argument("--statements-alone", action="store_true", help="without the reader of changes")
    call = parser.parse_args()
    if call.statements_alone:
        mock.patch.object(cycle, "open_change_reader", return_value=None).start()
    chosen = dialogues(FILES[call.set])
    ways = [("patterns", False)]
    if open_statement_reader() is not None:
        ways.append(("reader", True))
    for name, reader in ways:
        outcomes = asyncio.run(measure(reader, chosen))
        changes = [outcome for outcome in outcomes if outcome.dialogue.change]
        others = [outcome for outcome in outcomes if not outcome.dialogue.change]
        sys.stdout.write(
            f"{name}: changes right {sum(o.right for o in changes)} of {len(changes)}, "
            f"no wrong change in {sum(not o.wrong_change for o in others)} of {len(others)}, "
            f"of which the fact was known in {sum(o.right for o in others)}\n"
        )
        if call.list:
            sys.stdout.writelines(_line(outcome) for outcome in outcomes if not outcome.right)


def _line(outcome: Outcome) -> str:
    dialogue = outcome.dialogue
    wanted = f"holds {dialogue.holds!r}, gone {dialogue.gone!r}, has {list(outcome.values)}"
    return f"  {dialogue.name} {dialogue.turns[-1][2]!r}: {wanted}\n"


if __name__ == "__main__":
    main()
