"""Turning experience into knowledge: stages that read what an agent holds and propose what should change."""
