"""Procedural memory: how to do things, kept as procedures that run, resume, improve and can be taken back."""

from longmind.systems.procedural.conditions import All, AnyOf, Compare, NoneOf
from longmind.systems.procedural.contrast import Proposal
from longmind.systems.procedural.evidence import Counts, Rule
from longmind.systems.procedural.models import Compensation, Example, Procedure, Retry, Step, Version
from longmind.systems.procedural.proposer import ModelProposer
from longmind.systems.procedural.runs import Run, StepRecord
from longmind.systems.procedural.system import ProceduralMemory
from longmind.systems.procedural.tools import Tool, ToolRegistry
from longmind.systems.procedural.trials import Decision

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
