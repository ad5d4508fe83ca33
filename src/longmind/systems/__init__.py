"""The memory systems: typed views over the one store, each for one kind of memory."""
