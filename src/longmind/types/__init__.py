"""The public types: records, filters, hits and reports.

They are frozen pydantic models: validated once on construction, dumped with ``model_dump_json()``, and safe to share
between tasks. Times are UTC. Scores run from 0 to 1.
"""

from longmind.types.answers import NOT_KNOWN, Answer, AnswerMethod, Citation
from longmind.types.fields import (
    MAX_CONTENT,
    MAX_FACTS,
    MAX_FILTER_TAGS,
    MAX_FILTER_VALUES,
    MAX_METADATA_BYTES,
    MAX_METADATA_DEPTH,
    MAX_METADATA_VALUES,
    MAX_TAGS,
    STATES,
    Direction,
    Id,
    Json,
    Kind,
    Metadata,
    Moment,
    Name,
    Order,
    PlainJson,
    Role,
    State,
    Tag,
    Text,
    Unit,
)
from longmind.types.filters import Filter, Range, Scalar
from longmind.types.hits import Hit, Scored
from longmind.types.inputs import Document, Message
from longmind.types.memory import SHARED_AGENT, TRUST, UNHASHED, UPDATABLE, Link, Memory, Neighbour, Scope, Source
from longmind.types.model import Model, construct_unvalidated
from longmind.types.reports import STAGES, ConsolidationReport, Proposed, StageReport
from longmind.types.results import Change, ConversationSummary, Forgotten, Growth, Page, Stats, Undone, UndoneChange

__all__ = [
    "MAX_CONTENT",
    "MAX_FACTS",
    "MAX_FILTER_TAGS",
    "MAX_FILTER_VALUES",
    "MAX_METADATA_BYTES",
    "MAX_METADATA_DEPTH",
    "MAX_METADATA_VALUES",
    "MAX_TAGS",
    "NOT_KNOWN",
    "SHARED_AGENT",
    "STAGES",
    "STATES",
    "TRUST",
    "UNHASHED",
    "UPDATABLE",
    "Answer",
    "AnswerMethod",
    "Change",
    "Citation",
    "ConsolidationReport",
    "ConversationSummary",
    "Direction",
    "Document",
    "Filter",
    "Forgotten",
    "Growth",
    "Hit",
    "Id",
    "Json",
    "Kind",
    "Link",
    "Memory",
    "Message",
    "Metadata",
    "Model",
    "Moment",
    "Name",
    "Neighbour",
    "Order",
    "Page",
    "PlainJson",
    "Proposed",
    "Range",
    "Role",
    "Scalar",
    "Scope",
    "Scored",
    "Source",
    "StageReport",
    "State",
    "Stats",
    "Tag",
    "Text",
    "Undone",
    "UndoneChange",
    "Unit",
    "construct_unvalidated",
]
