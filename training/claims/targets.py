"""What a reader of statements is to learn of each turn: by the labels, or by labels and teachers together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from training.claims.examples import PARTS, Examples, Lists
from training.claims.model import Inputs

CERTAIN = 0.95
"""How much of the belief a labelled status gets; the others share what is left."""


class Wanted(NamedTuple):
    """What a batch is to give: of tokens, of turns, and of claims."""

    objects: Tensor
    """For each token, beginning or end, and relation how likely it is one."""
    holds: Tensor
    claims: Tensor
    """A row for each claim: its turn in the batch, relation, status, and the places of object, subject and time."""
    statuses: Tensor
    """For each claim how likely each status is."""
    weights: Tensor
    """How much each claim counts."""


class _Beliefs(NamedTuple):
    """Beliefs about turns as flat arrays; ``object_turns`` and ``claim_turns`` say which turn an entry is about.

    A place counts beginnings and ends of all relations, token by token, so that it does not depend on the padding.
    """

    holds: np.ndarray
    object_turns: np.ndarray
    places: np.ndarray
    values: np.ndarray
    claim_turns: np.ndarray
    claims: np.ndarray
    statuses: np.ndarray
    weights: np.ndarray


class Targets:
    """Builds what batches are to give from beliefs about all turns."""

    def __init__(self, examples: Examples, beliefs: _Beliefs) -> None:
        count, self._relations = len(examples), len(examples.relations)
        by_turn = np.argsort(beliefs.object_turns, kind="stable")
        ends = np.concatenate(([0], np.cumsum(np.bincount(beliefs.object_turns, minlength=count))))
        columns = (beliefs.places[by_turn].astype(np.int64), beliefs.values[by_turn].astype(np.float32))
        self._objects = Lists(ends, columns, examples.device)
        by_turn = np.argsort(beliefs.claim_turns, kind="stable")
        ends = np.concatenate(([0], np.cumsum(np.bincount(beliefs.claim_turns, minlength=count))))
        columns = (
            beliefs.claims[by_turn].astype(np.int64),
            beliefs.statuses[by_turn].astype(np.float32),
            beliefs.weights[by_turn].astype(np.float32),
        )
        self._claims = Lists(ends, columns, examples.device)
        self._holds = torch.from_numpy(beliefs.holds.astype(np.float32)).to(examples.device)

    def of(self, chosen: np.ndarray, inputs: Inputs) -> Wanted:
        """Return what a batch is to give."""
        rows, places, values = self._objects.of(chosen)
        turns, length = inputs[0].shape
        objects = torch.zeros((turns, length * 2 * self._relations), device=values.device)
        objects.index_put_((rows, places), values, accumulate=True)
        rows, claims, statuses, weights = self._claims.of(chosen)
        table = torch.cat((rows[:, None], claims), 1)
        holds = self._holds[torch.from_numpy(chosen).to(values.device)]
        return Wanted(objects.view(turns, length, 2, self._relations), holds, table, statuses, weights)


def labelled(examples: Examples) -> Targets:
    """Return what the labels say."""
    return Targets(examples, _labels(examples))


def taught(examples: Examples, paths: Sequence[Path], share: float) -> tuple[Targets, np.ndarray]:
    """Return what labels and teachers say together, and which turns without labels a teacher has read.

    ``share`` is how much teachers count beside a label; what has no labels is as they say. Teachers that have read the
    same turn count equally.
    """
    labels, told = _labels(examples), [_told(path) for path in paths]
    readers = sum(np.bincount(numbers, minlength=len(examples)) for numbers, _ in told)
    assert isinstance(readers, np.ndarray)
    unlabelled = examples.parts == PARTS.index("unlabelled")
    shares = np.where(readers > 0, np.where(unlabelled, 1.0, share), 0.0)
    each = shares / np.maximum(readers, 1)
    holds = labels.holds * (1 - shares)
    for numbers, beliefs in told:
        holds[numbers] += beliefs.holds * each[numbers]
    parts = [labels._replace(values=labels.values * (1 - shares)[labels.object_turns])]
    for _, beliefs in told:
        kept = unlabelled[beliefs.claim_turns]  # the claims of a turn with labels are its labels
        parts.append(
            beliefs._replace(
                values=beliefs.values * each[beliefs.object_turns],
                claim_turns=beliefs.claim_turns[kept],
                claims=beliefs.claims[kept],
                statuses=beliefs.statuses[kept],
                weights=(beliefs.weights * each[beliefs.claim_turns])[kept],
            )
        )
    columns = [np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True)]
    return Targets(examples, _Beliefs(holds, *columns)), np.flatnonzero(unlabelled & (readers > 0))


def _labels(examples: Examples) -> _Beliefs:
    relations, statuses = len(examples.relations), len(examples.statuses)
    turns = np.repeat(np.arange(len(examples)), [len(claims) for claims in examples.claims])
    table = np.array([claim for claims in examples.claims for claim in claims], np.int64).reshape(-1, 8)
    begins = table[:, 2] * 2 * relations + table[:, 0]
    ends = table[:, 3] * 2 * relations + relations + table[:, 0]
    places = np.unique(np.stack((np.tile(turns, 2), np.concatenate((begins, ends)))), axis=1)
    likely = np.full((len(table), statuses), (1 - CERTAIN) / statuses)
    likely[np.arange(len(table)), table[:, 1]] += CERTAIN
    holds = np.array([float(bool(claims)) for claims in examples.claims])
    return _Beliefs(
        holds, places[0], places[1], np.ones(places.shape[1]), turns, table, likely, np.ones(len(table), np.float32)
    )


def _told(path: Path) -> tuple[np.ndarray, _Beliefs]:
    """Return which turns a teacher has read, and what it says of them."""
    with np.load(path) as stored:
        data = {name: stored[name] for name in stored.files}
    numbers = data["numbers"].astype(np.int64)
    claims = data["claims"].astype(np.int64).reshape(-1, 9)
    return numbers, _Beliefs(
        data["holds"].astype(np.float64),
        np.repeat(numbers, data["counts"].astype(np.int64)),
        data["places"].astype(np.int64),
        data["values"].astype(np.float64),
        claims[:, 0],
        claims[:, 1:],
        data["statuses"].astype(np.float64),
        data["weights"].astype(np.float64),
    )
