"""Procedural memory: how to do things, kept as procedures that run, resume, improve and can be taken back."""

from recollect.systems.procedural.conditions import All, AnyOf, Compare, NoneOf
from recollect.systems.procedural.contrast import Proposal
from recollect.systems.procedural.evidence import Counts, Rule
from recollect.systems.procedural.models import Compensation, Example, Procedure, Retry, Step, Version
from recollect.systems.procedural.proposer import ModelProposer
from recollect.systems.procedural.runs import Run, StepRecord
from recollect.systems.procedural.system import ProceduralMemory
from recollect.systems.procedural.tools import Tool, ToolRegistry
from recollect.systems.procedural.trials import Decision

__all__ = [
    "All",
    "AnyOf",
    "Compare",
    "Compensation",
    "Counts",
    "Decision",
    "Example",
    "ModelProposer",
    "NoneOf",
    "ProceduralMemory",
    "Procedure",
    "Proposal",
    "Retry",
    "Rule",
    "Run",
    "Step",
    "StepRecord",
    "Tool",
    "ToolRegistry",
    "Version",
]
