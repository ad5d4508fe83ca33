"""Who accessed the memories of the tenant, for its administrator."""

from longmind.operations.faces import AUDIT
from longmind.operations.operation import Noun

_audit = Noun("audit", AUDIT)

OPERATIONS = (_audit.get("/audit", "list", permission="admin"),)
