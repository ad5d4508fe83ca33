"""REST: the operations as routes, errors as problem+json, streams as server-sent events."""
