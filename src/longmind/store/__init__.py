"""One durable store: the contract, its backends, and search over what they hold."""
