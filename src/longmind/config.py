"""Settings of the process, from defaults and the environment, and settings of one agent.

``Settings`` applies to a process and is read from the environment (``LONGMIND_*``). ``AgentSettings`` applies to one
agent. Its changes are stored with the agent's memories, so they survive restarts, are part of an export, and have a
history.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError

from longmind.errors import InvalidSetting
from longmind.problems import first_problem
from longmind.types import Model, Name, Unit

PREFIX = "LONGMIND_"
SYSTEMS = ("agent", "working", "dialogue", "persona", "shared", "goal monitoring", "goal revision")
"""What has settings for each agent; ``agent`` stands for ``AgentSettings``."""
FactOrigin = Literal["people", "documents", "tools", "assistant", "system"]
"""Whose words facts can be drawn from: users and named speakers, documents, results of tools, the assistant, or
instructions and what the system notes."""


def _listed(value: object) -> object:
    """Return the parts of a list that is written as one text, as in the environment, or as JSON."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


class Settings(Model):
    """How this process uses Longmind. Every field can be set as ``LONGMIND_<FIELD>`` in the environment."""

    url: str | None = None
    """The store: a path, ``sqlite:///path``, ``postgresql://...``, ``memory:``, or a server's ``https://...``;
    by default a file of the user."""
    key: SecretStr | None = None
    """The API key, where the URL is that of a server."""
    tenant: Name = "default"
    agent: Name = "assistant"
    """The agent the command line speaks for unless told otherwise."""
    embedder: str | None = None
    """``static``, ``minilm``, ``minilm-int8``, ``http://host/v1#model`` or ``none``; by default the store's own."""
    embedder_key: SecretStr | None = None
    model: str | None = None
    """The language model: ``openai://name``, ``anthropic://name``, ``http://host/v1#name`` or ``llamacpp:path.gguf``.
    Without one everything works by rules."""
    model_key: SecretStr | None = None
    rerank_ms: Annotated[float, Field(ge=0, le=10_000)] = 60.0
    """CPU time in milliseconds that a recall may spend on texts that the reranker of ``longmind-models``, if it is
    installed, has not read yet; recalls at the same time share it. 0 turns the reranker off."""
    read_ahead: Annotated[int, Field(ge=0, le=10_000)] = 1_000
    """How many of the newest messages of an agent with one user that reranker reads in the background, from their first
    recall in a process on, so that later questions need not. What is remembered after that is read, too. 0 turns it
    off."""
    otel: bool = False
    """Give spans and metrics to the application's OpenTelemetry."""
    view_mb: Annotated[int, Field(ge=1)] = 256
    """Memory that search may use for the scopes it keeps loaded."""
    view_snapshots: bool = True
    """Store what search has loaded of an agent with more than 20,000 memories, in a folder beside a SQLite file or in a
    table of PostgreSQL, so that the next process need not read every row. Only who may read the memories can read it,
    and an erasure removes it."""
    pool_size: Annotated[int, Field(ge=1, le=1000)] = 10
    """Connections to PostgreSQL."""
    connect_seconds: Annotated[float, Field(gt=0, le=3600)] = 4.0
    """How long to wait for a PostgreSQL that does not answer."""
    busy_seconds: Annotated[float, Field(ge=0, le=3600)] = 30.0
    """How long to wait where others are busy: a process that writes to the same SQLite file, or, while PostgreSQL
    answers, those who use all connections of the pool."""

    defaults: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    """Defaults for every agent, by memory system and setting; what an agent has configured itself wins. In the
    environment each is ``LONGMIND_<SYSTEM>_<SETTING>``, such as ``LONGMIND_DIALOGUE_WINDOW``."""

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: object) -> Settings:
        """Load the settings: defaults, then the environment, then ``overrides`` that are not None."""
        environment = os.environ if environment is None else environment
        values: dict[str, object] = {}
        for field in cls.model_fields:
            value = environment.get(PREFIX + field.upper())
            if value and field != "defaults":
                values[field] = value
        if defaults := _defaults_in(environment):
            values["defaults"] = defaults
        values.update({key: value for key, value in overrides.items() if value is not None})
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise InvalidSetting(_first(error), hint=f"Check {PREFIX}* in the environment.") from error

    def store_url(self) -> str:
        """Return the URL of the store; by default the user's own file.

        An empty URL does not mean the default, and is refused when it is opened: a script whose variable is unset must
        not work on the user's own store.
        """
        return str(default_path()) if self.url is None else self.url


def _defaults_in(environment: Mapping[str, str]) -> dict[str, dict[str, str | None]]:
    """Return the defaults of memory systems that the environment sets; the word ``none`` stands for None."""
    defaults: dict[str, dict[str, str | None]] = {}
    for system in SYSTEMS:
        prefix = variable_of(system, "")
        for variable, value in environment.items():
            if variable.startswith(prefix) and len(variable) > len(prefix) and value:
                setting = variable.removeprefix(prefix).lower()
                defaults.setdefault(system, {})[setting] = None if value.lower() == "none" else value
    return defaults


def variable_of(system: str, setting: str) -> str:
    """Return the environment variable that sets the default of a memory system's setting."""
    return f"{PREFIX}{system.replace(' ', '_').upper()}_{setting.upper()}"


def default_path(environment: Mapping[str, str] | None = None) -> Path:
    """Return the path of the user's own store: one file in the user's data folder."""
    environment = os.environ if environment is None else environment
    data = environment.get("XDG_DATA_HOME")
    base = Path(data) if data else Path.home() / ".local" / "share"
    return base / "longmind" / "memory.db"


def cache_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the cache folder: in ``XDG_CACHE_HOME`` if it is set, else where the system keeps caches."""
    environment = os.environ if environment is None else environment
    chosen = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(chosen):
        return Path(chosen) / "longmind"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "longmind"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "longmind" / "cache"
    return Path.home() / ".cache" / "longmind"


def provider_key(
    provider: Literal["openai", "anthropic"], environment: Mapping[str, str] | None = None
) -> SecretStr | None:
    """Return the API key that a provider's own SDK would use; only for that provider, never for another address."""
    environment = os.environ if environment is None else environment
    key = environment.get(f"{provider.upper()}_API_KEY")
    return SecretStr(key) if key else None


class AgentSettings(Model):
    """What one agent does its own way. Stored with the agent; see ``AgentMemory.configure``."""

    recall_k: Annotated[int, Field(ge=1, le=1000)] = 10
    """How many memories ``recall`` returns unless told."""
    recall_shared: Annotated[int, Field(ge=0, le=100)] = 3
    """How many entries of the tenant's shared memory ``recall`` and ``context`` add at most; 0 adds none."""
    answer_confidence: Unit = 0.17
    """How sure an answer of ``ask`` must be; one that is less sure is "not known"."""
    context_tokens: Annotated[int, Field(ge=50, le=1_000_000)] = 1500
    """The budget of ``context`` unless told."""
    passage_chars: Annotated[int, Field(ge=200, le=20_000)] = 1000
    """About how long the passages of a document are."""
    duplicate_similarity: Annotated[float, Field(gt=0.5, le=1.0)] = 0.92
    """How alike two memories must be for consolidation to see one in the other."""
    facts_from: Annotated[tuple[FactOrigin, ...], BeforeValidator(_listed)] = ("people", "documents")
    """Whose words consolidation draws facts from: any of people, documents, tools, assistant and system. An assistant
    with a name counts as a person."""
    statement_reader: bool = True
    """Whether the trained reader of statements reads what people said, where ``longmind[models]`` is installed. Without
    it patterns find less."""
    consolidate_paused: bool = False
    """Whether consolidation leaves this agent alone until it is set back."""
    consolidate_seconds_per_day: Annotated[float, Field(gt=0)] | None = None
    """How long consolidation may work for the agent in a day (UTC); None sets no limit."""
    consolidate_calls_per_day: Annotated[int, Field(ge=0)] | None = None
    """How many requests to a language model consolidation may make for the agent in a day (UTC)."""
    archive_after_days: Annotated[float, Field(gt=0)] | None = 365
    """After how long without being recalled what was said goes to the archive; what was recalled often or is important
    stays longer. None keeps it for ever."""
    archive_below_importance: Unit = 0.7
    """What is at least as important as this is never archived by age."""
    delete_archived_after_days: Annotated[float, Field(gt=0)] | None = None
    """After how long in the archive it is deleted; None, the default, deletes nothing."""
    model_tokens_per_day: Annotated[int, Field(ge=0)] | None = None
    """How many tokens of the language model the agent may use in a day (UTC); None sets no limit."""

    def changed(self, changes: Mapping[str, object]) -> AgentSettings:
        """Return these settings with some of them changed, validated."""
        unknown = sorted(set(changes) - set(type(self).model_fields))
        if unknown:
            raise InvalidSetting(
                f"There is no agent setting {', '.join(unknown)}.",
                hint=f"There are: {', '.join(sorted(type(self).model_fields))}.",
            )
        try:
            return type(self).model_validate({**self.model_dump(), **changes})
        except ValidationError as error:
            raise InvalidSetting(_first(error)) from error


def _first(error: ValidationError) -> str:
    where, reason = first_problem(error)
    return f"The setting {where} is not usable: {reason}."
