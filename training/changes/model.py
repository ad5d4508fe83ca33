"""The reader of changes in torch, over any trunk that gives a vector for each word piece."""

from __future__ import annotations

import torch
from torch import Tensor, nn

VERDICTS = 3
"""What may be found about a claim: right, trivial, wrong."""
NEVER = -1e4
Inputs = tuple[Tensor, Tensor, Tensor]
"""Pieces, segments and lengths."""


class ChangeReader(nn.Module):
    """A trunk with three ends over what is read beside a turn.

    Of a known fact: whether it is gone, and for each token whether a new value begins or ends there. Of a claim:
    whether it is right.
    """

    def __init__(self, trunk: nn.Module, width: int) -> None:
        super().__init__()
        self.bert = trunk
        self.gone = nn.Linear(width, 1)
        self.span = nn.Linear(width, 2)
        self.verdict = nn.Linear(width, VERDICTS)

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        tokens = self.bert(ids, segments, lengths)
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        readable = ((segments == 1) & (places < lengths[:, None] - 1)) | (places == 0)
        numbers = self.span(tokens).float().masked_fill(~readable[..., None], NEVER)
        first = tokens[:, 0]
        return self.gone(first).squeeze(-1).float(), numbers, self.verdict(first).float()
