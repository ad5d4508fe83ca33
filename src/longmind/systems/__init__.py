"""The memory systems: typed views of one store, each for one kind of memory."""
