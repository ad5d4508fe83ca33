"""The persona: profiles of the user and of the agent, made of traits and knowledge entries."""

from longmind.systems.persona.knowledge import entry_name
from longmind.systems.persona.memory import PersonaMemory
from longmind.systems.persona.models import (
    MAX_EVIDENCE,
    Knowledge,
    Learnt,
    PersonaSettings,
    Profile,
    ProfileSubject,
    Rival,
    Trait,
    TraitReading,
)
from longmind.systems.persona.rendering import knowledge_line, trait_line

__all__ = [
    "MAX_EVIDENCE",
    "Knowledge",
    "Learnt",
    "PersonaMemory",
    "PersonaSettings",
    "Profile",
    "ProfileSubject",
    "Rival",
    "Trait",
    "TraitReading",
    "entry_name",
    "knowledge_line",
    "trait_line",
]
