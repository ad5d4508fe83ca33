"""Procedural memory: how to do things, stored as procedures that run, resume, improve and can be rolled back."""

from longmind.systems.procedural.beta_binomial import (
    SuccessCounts,
    TrialRule,
    credible_interval,
    judge,
    seeded_generator,
)
from longmind.systems.procedural.changes import Diff, Difference
from longmind.systems.procedural.checks import CheckReport, ExampleCheck
from longmind.systems.procedural.conditions import All, AnyOf, Compare, NoneOf
from longmind.systems.procedural.distill import Distilled, distill_procedure
from longmind.systems.procedural.learning import LearningResult
from longmind.systems.procedural.models import (
    Compensation,
    Example,
    Procedure,
    ProcedureHit,
    ProcedureName,
    Retry,
    Step,
    ToolName,
    Version,
    dump_procedure,
)
from longmind.systems.procedural.procedure_store import ProcedureStore
from longmind.systems.procedural.proposals import ModelProposer, PatchProposal
from longmind.systems.procedural.runs import RUN, Run, RunFailure, RunStatus, StepRecord
from longmind.systems.procedural.schema import bind_params, declared_params
from longmind.systems.procedural.statistics import ProcedureStatistics, VersionStatistics
from longmind.systems.procedural.system import ProceduralMemory
from longmind.systems.procedural.templates import render_template, template_references
from longmind.systems.procedural.tools import IDEMPOTENCY_KEY, Tool, ToolDecorator, ToolDescription, ToolRegistry
from longmind.systems.procedural.traces import load_traces
from longmind.systems.procedural.trials import Decision
from longmind.systems.procedural.values import error_message, json_equal, to_plain_json

__all__ = [
    "IDEMPOTENCY_KEY",
    "RUN",
    "All",
    "AnyOf",
    "CheckReport",
    "Compare",
    "Compensation",
    "Decision",
    "Diff",
    "Difference",
    "Distilled",
    "Example",
    "ExampleCheck",
    "LearningResult",
    "ModelProposer",
    "NoneOf",
    "PatchProposal",
    "ProceduralMemory",
    "Procedure",
    "ProcedureHit",
    "ProcedureName",
    "ProcedureStatistics",
    "ProcedureStore",
    "Retry",
    "Run",
    "RunFailure",
    "RunStatus",
    "Step",
    "StepRecord",
    "SuccessCounts",
    "Tool",
    "ToolDecorator",
    "ToolDescription",
    "ToolName",
    "ToolRegistry",
    "TrialRule",
    "Version",
    "VersionStatistics",
    "bind_params",
    "credible_interval",
    "declared_params",
    "distill_procedure",
    "dump_procedure",
    "error_message",
    "json_equal",
    "judge",
    "load_traces",
    "render_template",
    "seeded_generator",
    "template_references",
    "to_plain_json",
]
