"""Intake: converts what a caller gives to ``remember`` into memories with source, key and importance."""
