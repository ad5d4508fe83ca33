"""Attributes of a person, such as work or home, and the words that name them."""

from __future__ import annotations

from longmind.text.analysis import stem, words

_ATTRIBUTES = {
    "work": """work works working job jobs employer employed employment position career hired company office boss
    profession occupation freelance unemployed retired""",
    "home": "live lives living home house flat apartment address moved move moving rent neighbourhood neighborhood",
    "partner": """married marriage husband wife spouse partner girlfriend boyfriend engaged fiance fiancee divorced
    divorce single dating separated widowed""",
    "study": "study studies studying student school university college degree course major",
    "diet": "vegan vegetarian pescatarian diet eat eats eating meat",
    "vehicle": "car drive drives driving van bike bicycle motorbike scooter",
    "pet": "dog cat pet puppy kitten hamster rabbit parrot",
}
_OF_WORD = {stem(word): name for name, listed in _ATTRIBUTES.items() for word in listed.split()}


def attributes(text: str) -> frozenset[str]:
    """Return the attributes of a person that a text has a word for."""
    return frozenset(_OF_WORD[word] for word in map(stem, words(text)) if word in _OF_WORD)
