"""Who calls, and what they may do."""

from longmind.security.principal import Anonymous, Authenticator, Credentials, Permission, Principal

__all__ = ["Anonymous", "Authenticator", "Credentials", "Permission", "Principal"]
