"""Personas: traits and knowledge of the user and of the agent."""

from longmind.errors import InvalidSetting
from longmind.operations.faces import PERSONA
from longmind.operations.operation import Noun
from longmind.systems.persona import PersonaSettings

_persona = Noun("persona", PERSONA)

OPERATIONS = (
    _persona.get("/persona", "profile"),
    _persona.get("/persona/configuration", "configuration"),
    _persona.patch("/persona/configuration", "configure", changes=PersonaSettings, invalid=InvalidSetting),
    _persona.get("/persona/rendering", "render"),
    _persona.get("/persona/traits", "traits"),
    _persona.post("/persona/traits", "observe", example={"dimension": "humour", "value": "dry", "confidence": 0.6}),
    _persona.get("/persona/traits/{dimension}", "trait", none_is_missing=True),
    _persona.get("/persona/traits/{dimension}/history", "history"),
    _persona.get("/persona/knowledge", "knowledge"),
    _persona.post("/persona/knowledge", "learn", example={"text": "She is a nurse.", "confidence": 0.8}),
    _persona.post("/persona/knowledge/search", "search", permission="read", example={"query": "work"}),
    _persona.get("/persona/knowledge/{id}", "entry"),
)
