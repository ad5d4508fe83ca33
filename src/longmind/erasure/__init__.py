"""Erasing memories with all that came from them, users, agents and tenants; receipts, and their verification."""

from longmind.erasure.models import ErasedAgent, ErasureCheck, ErasureReceipt
from longmind.erasure.provenance import with_derived
from longmind.erasure.subjects import Erasure
from longmind.erasure.verification import verify

__all__ = ["ErasedAgent", "Erasure", "ErasureCheck", "ErasureReceipt", "verify", "with_derived"]
