"""Blocking persona memory."""

from longmind.sync.blocking import Blocking, blocking
from longmind.systems import persona as asynchronous


class PersonaMemory(Blocking[asynchronous.PersonaMemory]):
    """Blocking; see ``longmind.systems.persona.PersonaMemory``."""

    configuration = blocking(asynchronous.PersonaMemory.configuration)
    configure = blocking(asynchronous.PersonaMemory.configure)
    observe = blocking(asynchronous.PersonaMemory.observe)
    trait = blocking(asynchronous.PersonaMemory.trait)
    traits = blocking(asynchronous.PersonaMemory.traits)
    history = blocking(asynchronous.PersonaMemory.history)
    learn = blocking(asynchronous.PersonaMemory.learn)
    knowledge = blocking(asynchronous.PersonaMemory.knowledge)
    entry = blocking(asynchronous.PersonaMemory.entry)
    search = blocking(asynchronous.PersonaMemory.search)
    profile = blocking(asynchronous.PersonaMemory.profile)
    render = blocking(asynchronous.PersonaMemory.render)
