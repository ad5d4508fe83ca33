"""Prompts as files. Each has a version, which is recorded with what the prompt produced.

A prompt is a Markdown file that begins with its version. ``{name}`` in it is a placeholder; other braces are left
alone. ``versions.json`` beside the files holds the digest of each version: a test fails if a text changes and its
version does not.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from longmind.errors import InvalidInput

_FILE = re.compile(r"\A---\nversion: (?P<version>[1-9][0-9]*)\n---\n(?P<text>.+)\Z", re.DOTALL)
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt template for a model."""

    name: str
    version: int
    text: str

    @property
    def id(self) -> str:
        """Name and version, as recorded with what the prompt produced: ``structured@1``."""
        return f"{self.name}@{self.version}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def fill(self, **values: str) -> str:
        """Return the text with all placeholders filled. Placeholders inside the values are not expanded."""
        places = set(_PLACE.findall(self.text))
        if places != set(values):
            raise InvalidInput(
                f"The prompt {self.id} has the places {sorted(places)}, and {sorted(values)} were given.",
                hint="Give a text for each place.",
            )
        return _PLACE.sub(lambda place: values[place[1]], self.text).strip()


@cache
def load(name: str, package: str = __name__) -> Prompt:
    """Load a prompt of this package, or of another one with prompt files of the same format."""
    try:
        parsed = _FILE.match(resources.files(package).joinpath(f"{name}.md").read_text(encoding="utf-8"))
    except (FileNotFoundError, ModuleNotFoundError) as error:
        raise InvalidInput(f"There is no prompt {name!r} in {package}.") from error
    if parsed is None:
        raise InvalidInput(f"The prompt {name!r} in {package} does not begin with its version.")
    return Prompt(name, int(parsed["version"]), parsed["text"].strip())


def names(package: str = __name__) -> list[str]:
    """List the prompts of a package."""
    files = [file.name for file in resources.files(package).iterdir()]
    return sorted(name.removesuffix(".md") for name in files if name.endswith(".md"))
