"""Who calls, what they may do, and what is noted of it."""

from longmind.security.access_store import AccessStore
from longmind.security.audit import AuditEvent, AuditHead, AuditLine, AuditLog, AuditWriter, StoredLine, Verification
from longmind.security.keys import ApiKey, KeyAdministration, KeyAuthenticator, NewKey
from longmind.security.principal import Anonymous, Authenticator, Credentials, Permission, Principal

__all__ = [
    "AccessStore",
    "Anonymous",
    "ApiKey",
    "AuditEvent",
    "AuditHead",
    "AuditLine",
    "AuditLog",
    "AuditWriter",
    "Authenticator",
    "Credentials",
    "KeyAdministration",
    "KeyAuthenticator",
    "NewKey",
    "Permission",
    "Principal",
    "StoredLine",
    "Verification",
]
