"""Goes on with the reader of statements that is shipped, on turns that were labelled since, on a CPU.

    python -m training.claims.tune --prepared prepared --writers w134,w135 --out OUT [--minutes 30] [--threads 1]

All turns of the named writers are learnt, with a share of the other labelled turns and of those without labels, so that
what is known is not forgotten: of these it also learns what it believes before this training. ``training.average
OUT/mean6 OUT/claims6 shipped:statements`` makes the mean with the weights of before, which is what is shipped.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
import torch

from training.average import shipped
from training.bert import WIDTH, Bert, unpack
from training.claims.examples import Examples
from training.claims.figures import figures, read
from training.claims.fitting import arguments, fit
from training.claims.model import ClaimReader
from training.claims.targets import taught as mixed
from training.claims.teach import taught
from training.texts import save


def chosen_turns(examples: Examples, call: argparse.Namespace) -> np.ndarray:
    """Return the turns to learn from."""
    chance = np.random.default_rng(call.seed)
    train, unlabelled = examples.part("train"), examples.part("unlabelled")
    newer = np.isin(examples.turns[train, 0], [int(name.removeprefix("w")) for name in call.writers.split(",")])
    older = train[~newer]
    parts = [
        train[newer],
        chance.choice(older, int(len(older) * call.older), replace=False),
        chance.choice(unlabelled, int(len(unlabelled) * call.unlabelled), replace=False),
    ]
    sys.stdout.write(f"{[len(part) for part in parts]} turns: newer, older, without labels\n")
    return np.concatenate(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser, epochs=2, size=32, rate=6e-5, minutes=30.0)
    parser.add_argument("--writers", required=True, help="whose turns are all learnt, with commas between")
    parser.add_argument("--older", type=float, default=0.1, help="share of the other labelled turns and their variants")
    parser.add_argument("--unlabelled", type=float, default=0.05, help="share of the turns without labels")
    parser.add_argument("--mixed", type=float, default=0.35, help="how much its own beliefs count beside a label")
    parser.add_argument("--drop", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=1)
    call = parser.parse_args()
    torch.manual_seed(call.seed)
    torch.set_num_threads(call.threads)
    call.out.mkdir(parents=True, exist_ok=True)
    examples = Examples(call.prepared / "claims.npz.xz", "cpu")
    weights = {name: torch.from_numpy(value.copy()) for name, value in shipped("statements").items()}
    weights["bert.words.weight"] = unpack(call.prepared / "trunk.npz.xz")["words.weight"]
    model = ClaimReader(Bert(6, call.drop), WIDTH, len(examples.relations), len(examples.statuses))
    model.load_state_dict({name: weights[name] for name in model.state_dict()})
    chosen, development = chosen_turns(examples, call), examples.part("development")
    if call.tiny:
        chosen, development = chosen[:: len(chosen) // 128], development[:16]
    before = {"epoch": 0, **figures(read(model, examples, development), examples)}
    sys.stdout.write(f"{json.dumps(before)}\n")
    np.savez(call.out / "taught.own.npz", **taught(model, examples, chosen))
    targets, _ = mixed(examples, [call.out / "taught.own.npz"], call.mixed)
    model, curve = fit(model, examples, chosen, targets, development, call)
    save(model, call.out, "claims6")
    (call.out / "tune_curve.json").write_text(json.dumps([before, *curve]))


if __name__ == "__main__":
    main()
