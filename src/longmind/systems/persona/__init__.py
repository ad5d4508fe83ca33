"""The persona: the user's and the agent's profiles, made of traits and knowledge, with confidence and history."""

from longmind.systems.persona.memory import PersonaMemory
from longmind.systems.persona.models import About, Knowledge, Learnt, PersonaSettings, Profile, Reading, Rival, Trait

__all__ = [
    "About",
    "Knowledge",
    "Learnt",
    "PersonaMemory",
    "PersonaSettings",
    "Profile",
    "Reading",
    "Rival",
    "Trait",
]
