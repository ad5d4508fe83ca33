"""What comes in: whatever a caller gives to ``remember`` becomes memories with a source, a place and a weight."""
