"""The reader of statements in torch, over any trunk that gives a vector for each word piece."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

POINTERS, POINTER_WIDTH = 4, 96
"""Beginning and end of the subject, beginning and end of the time."""
Inputs = tuple[Tensor, ...]
"""Pieces, segments and lengths."""


class ClaimReader(nn.Module):
    """A trunk with the ends for objects, statuses and pointers."""

    def __init__(self, bert: nn.Module, width: int, relations: int, statuses: int) -> None:
        super().__init__()
        self.bert = bert
        self.holds = nn.Linear(width, 1)
        self.objects = nn.Linear(width, 2 * relations)
        nn.init.constant_(self.objects.bias, -5.0)  # hardly any token begins or ends an object
        self.relation = nn.Embedding(relations, 64)
        self.claim = nn.Linear(2 * width + 64, width)
        self.status = nn.Linear(width, statuses)
        self.asks = nn.Linear(width, POINTERS * POINTER_WIDTH)
        self.keys = nn.Linear(width, POINTERS * POINTER_WIDTH)

    def encode(self, inputs: Inputs) -> tuple[Tensor, Tensor, Tensor]:
        """Return the tokens, whether there is a claim, and for each token and relation the beginning and the end."""
        tokens = self.bert(*inputs)
        holds = self.holds(tokens[:, 0]).squeeze(-1).float()
        return tokens, holds, self.objects(tokens).unflatten(-1, (2, -1)).float()

    def describe(
        self, tokens: Tensor, lengths: Tensor, row: Tensor, relation: Tensor, start: Tensor, end: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return for each claim the numbers of its status, and of the four pointers over the tokens of its turn."""
        claim = functional.gelu(
            self.claim(torch.cat((tokens[row, start], tokens[row, end], self.relation(relation)), -1))
        )
        asks = self.asks(claim).unflatten(-1, (POINTERS, POINTER_WIDTH))
        keys = self.keys(tokens)[row].unflatten(-1, (POINTERS, POINTER_WIDTH))
        pointers = torch.einsum("cpk,ctpk->cpt", asks, keys).float() / math.sqrt(POINTER_WIDTH)
        beyond = torch.arange(tokens.shape[1], device=tokens.device)[None] >= lengths[row][:, None]
        return self.status(claim).float(), pointers.masked_fill(beyond[:, None], -1e4)
