"""The persona: the user's and the agent's profiles, made of traits and knowledge, with confidence and history."""

from longmind.systems.persona.knowledge import entry_name
from longmind.systems.persona.memory import PersonaMemory
from longmind.systems.persona.models import (
    About,
    Knowledge,
    Learnt,
    PersonaSettings,
    Profile,
    Rival,
    Trait,
    TraitReading,
)
from longmind.systems.persona.rendering import knowledge_line, quote_text, trait_line

__all__ = [
    "About",
    "Knowledge",
    "Learnt",
    "PersonaMemory",
    "PersonaSettings",
    "Profile",
    "Rival",
    "Trait",
    "TraitReading",
    "entry_name",
    "knowledge_line",
    "quote_text",
    "trait_line",
]
