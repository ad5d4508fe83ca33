"""The commands of ``python -m benchmarks``: measure recall, speed, size and learning, and save the results.

The published evaluation sets are not part of Longmind; ``--data`` names the folder that holds them. Everything runs in
a temporary store, unless ``--url`` names one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, store_command
from longmind.cli.progress import bar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.learning import LearningReport
    from longmind.memory import Longmind

app = typer.Typer(
    name="benchmarks",
    help="Measure recall, contexts, speed, size and learning.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Data = Annotated[Path, typer.Option(metavar="FOLDER", help="The folder with the evaluation sets.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Write JSON and a chart here; by default nothing is written.")
]
Model = Annotated[str, typer.Option("--embedder", metavar="NAME", help="static, minilm, or another that is installed.")]
Consolidated = Annotated[bool, typer.Option("--consolidated", help="Consolidate each conversation before it is asked.")]
Ahead = Annotated[
    bool, typer.Option("--read-ahead", help="Let the reranker read each case before the first question about it.")
]
Only = Annotated[int | None, typer.Option("--cases", min=1, help="Use only the first cases, for a quick look.")]
DATA, OUT = Path("../shared/data"), Path("docs/benchmarks")


@store_command
async def locomo(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    out: Out = None,
    consolidated: Consolidated = False,
    read_ahead: Ahead = False,
) -> None:
    """LoCoMo: how much of the evidence is recalled, by turn and by session."""
    await _quality(call, "locomo", data, embedder, cases, out, consolidated=consolidated, read_ahead=read_ahead)


@store_command
async def calibration(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    every: Annotated[int, typer.Option(min=1, help="Ask only each so manieth question, for a quick look.")] = 1,
    out: Out = None,
) -> None:
    """Whether the score of a hit is the chance that it is right, and what cannot be answered scores lower."""
    from benchmarks import calibration as benchmark
    from benchmarks import charts
    from benchmarks import report as results

    began, rows, curves = time.perf_counter(), [], {}
    for name in benchmark.NAMES:
        async with _store(call, embedder) as longmind:
            with _progress(call, name) as progress:
                asked = await benchmark.ask(longmind, name, data, cases, every, progress)
        for reranked, questions in asked.items():
            rows.append(benchmark.row(name, reranked, questions))
            own = benchmark.bins_of_all([each for each in questions if each.answerable])
            curves[f"{name}, {rows[-1][1]} reranker"] = own
    title = f"Scores as chances ({embedder}, {_backend(call)})"
    result = {
        **_about(call, title, embedder, began),
        "rows": [dict(zip(benchmark.HEAD, row, strict=True)) for row in rows],
        "curves": {name: [list(each) for each in bins] for name, bins in curves.items()},
    }
    if out is not None:
        series = {
            name: [(each.score, each.right) for each in bins if each.hits >= benchmark.DRAWN]
            for name, bins in curves.items()
        }
        chart = charts.reliability(title, series)
        results.write(out, f"calibration-{embedder}-{_backend(call)}", result, chart)

    def show() -> None:
        _show(title, benchmark.HEAD, rows)

    call.answer(result, show)


@store_command
async def candidates(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    every: Annotated[int, typer.Option(min=1, help="Ask only each so manieth question, for a quick look.")] = 1,
    out: Out = None,
) -> None:
    """LoCoMo: what the small reranker brings and costs by the number of candidates that it compares."""
    from benchmarks import candidates as benchmark
    from benchmarks import charts
    from benchmarks import report as results
    from benchmarks.sets import SETS
    from longmind.models import small_models

    if small_models.missing():
        raise typer.BadParameter('The reranker is not installed: pip install "longmind[models]".')
    began, chosen = time.perf_counter(), list(SETS["locomo"].cases(data))[:cases]
    async with _store(call, embedder) as longmind:
        with _progress(call, "Asking") as progress:
            rows = await benchmark.measure(longmind, chosen, every, longmind.settings.rerank_ms, progress)
    title = f"Recall by the number of candidates that are compared ({embedder}, {_backend(call)})"
    result = {
        **_about(call, title, embedder, began),
        "rows": [dict(zip(benchmark.HEAD, row.shown(), strict=True)) for row in rows],
    }
    if out is not None:
        read = [row for row in rows if row.candidates.isdigit()]
        series = {
            "R@5": [(row.milliseconds, row.five, row.candidates) for row in read],
            "R@10": [(row.milliseconds, row.ten, row.candidates) for row in read],
        }
        chart = charts.against_cost(title, series, "CPU milliseconds of a recall, texts read before")
        results.write(out, f"candidates-{embedder}-{_backend(call)}", result, chart)
    call.answer(result, lambda: _show(title, benchmark.HEAD, [row.shown() for row in rows]))


@store_command
async def answers(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    conversations: Annotated[
        str, typer.Option(metavar="NAMES", help="Names of conversations, or tuned, or untouched; all by default.")
    ] = "",
    every: Annotated[int, typer.Option(min=1, help="Ask only each so manieth question, for a quick look.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask at most so many questions, spread over all.")] = None,
    answers_file: Annotated[
        Path | None,
        typer.Option("--answers", metavar="FILE", help="Keep every answer here, and continue where a run stopped."),
    ] = None,
    out: Out = None,
) -> None:
    """LoCoMo: how good the answers of `ask` are without a language model, and when it says that it does not know."""
    from benchmarks import answers as benchmark
    from benchmarks import charts
    from benchmarks import report as results

    began = time.perf_counter()
    plan = benchmark.chosen(data, set(conversations.replace(",", " ").split()), every, limit)
    async with _store(call, embedder) as longmind:
        with _progress(call, "Asking") as progress:
            asked = await benchmark.ask(longmind, data, plan, answers_file, progress)
    rows, figures = list(benchmark.rows(asked, benchmark.LEAST)), benchmark.figures(asked)
    title = f"LoCoMo: answers without a language model ({embedder}, {_backend(call)})"
    result = {
        **_about(call, title, embedder, began),
        "rows": [dict(zip(benchmark.HEAD, row, strict=True)) for row in rows],
        "figures": [list(row) for row in figures],
    }
    if out is not None:
        groups = list(dict.fromkeys(row[1] for row in rows))
        careful = {(row[0], row[1]): float(row[4]) for row in rows}
        halves = dict.fromkeys(row[0] for row in rows)
        series = {half: [careful.get((half, group), 0.0) for group in groups] for half in halves}
        results.write(out, f"answers-{embedder}-{_backend(call)}", result, charts.bars(title, groups, series))

    def show() -> None:
        _show(title, benchmark.HEAD, rows)
        _show("", ["figure", "value", "unit"], [[name, f"{value:g}", unit] for name, value, unit in figures])

    call.answer(result, show)


@store_command
async def evaluation(
    call: Invocation,
    embedder: Model = "static",
    cases: Only = None,
    out: Out = None,
    consolidated: Consolidated = False,
) -> None:
    """The project's own set: recall by type of question, changed facts, and the facts that are learnt."""
    from benchmarks.evaluation.files import FOLDER

    await _quality(call, "evaluation", FOLDER, embedder, cases, out, consolidated=consolidated)


@store_command
async def beam(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    out: Out = None,
    read_ahead: Ahead = False,
) -> None:
    """BEAM 100K: how much of the evidence is recalled, by message."""
    await _quality(call, "beam", data, embedder, cases, out, read_ahead=read_ahead)


@store_command
async def facts(
    call: Invocation, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None
) -> None:
    """FactConsolidation: whether the newest value of a fact is the top hit."""
    await _quality(call, "facts", data, embedder, cases, out)


@store_command
async def hops(
    call: Invocation, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None
) -> None:
    """FactConsolidation, multi-hop: whether the statement that answers is recalled."""
    await _quality(call, "hops", data, embedder, cases, out)


@store_command
async def qmsum(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    out: Out = None,
    read_ahead: Ahead = False,
) -> None:
    """QMSum: whether a turn of the relevant span is recalled."""
    await _quality(call, "qmsum", data, embedder, cases, out, read_ahead=read_ahead)


@store_command
async def speed(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    out: Out = None,
    tenants: Annotated[int, typer.Option(min=1, help="Of how many tenants, with 1,000 memories each.")] = 100,
    rounds: Annotated[int, typer.Option(min=1, help="How often each figure is measured; the best counts.")] = 5,
) -> None:
    """Speed: what adding and recalling cost at LoCoMo size and among many tenants, and the blocking face."""
    from benchmarks import locomo as conversations
    from benchmarks import speed as benchmark
    from benchmarks.embedders import CachingEmbedder
    from longmind.models.embed_open import open_embedder

    chosen = list(conversations.cases(data))[:cases]
    caching, began = CachingEmbedder(open_embedder(embedder)), time.perf_counter()
    with _progress(call, "Measuring") as progress, tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder:
        async with _store(call, caching) as longmind:
            figures = await benchmark.run(longmind, caching, chosen, progress, rounds)
        figures += await benchmark.faces(Path(folder), caching, chosen[0], rounds)
        figures += benchmark.tenants(data, embedder, tenants)
    _report_figures(call, "speed", "Speed at LoCoMo size", embedder, began, figures, out)


@store_command
async def scale(
    call: Invocation,
    memories: Annotated[int, typer.Option(min=1_000, help="How many memories.")] = 100_000,
    agents: Annotated[
        int, typer.Option(min=1, help="Of how many agents; with 1 the search is compared with an exact one.")
    ] = 100,
    out: Out = None,
) -> None:
    """Scale: many agents in one store, or one agent with very many memories."""
    from benchmarks import scale as benchmark
    from benchmarks.embedders import WordHashEmbedder

    began = time.perf_counter()
    async with _store(call, WordHashEmbedder()) as longmind:
        with _progress(call, "Filling and asking") as progress:
            if agents == 1:
                figures = await benchmark.one_agent(longmind, memories, progress)
            else:
                figures = await benchmark.many_agents(longmind, agents, memories, progress)
    title = f"Scale: {memories:,} memories of {screen.counted(agents, 'agent')}"
    _report_figures(call, f"scale-{memories}-{agents}", title, "made-up", began, figures, out)


@store_command
async def serve(
    call: Invocation,
    seconds: Annotated[float, typer.Option(min=1, help="How long the clients ask.")] = 60.0,
    workers: Annotated[int, typer.Option(min=1, help="Processes of the server.")] = 1,
    postgres: Annotated[
        bool, typer.Option("--postgres", help="On a PostgreSQL of its own, which is also killed under load.")
    ] = False,
    out: Out = None,
) -> None:
    """The server with 32 clients: throughput, its part of a recall, and what is lost when it is killed."""
    from benchmarks.serve import measure as benchmark
    from benchmarks.serve.database import LocalServer

    began = time.perf_counter()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="longmind-bench-")))
        progress = stack.enter_context(_progress(call, "Serving"))
        database = LocalServer() if postgres else None
        if database is not None:
            stack.callback(database.stop)
            call = replace(call, url=database.url)
        url = call.url or str(folder / "bench.db")
        figures = await benchmark.measure(url, folder, seconds, progress, workers=workers, database=database)
    title = f"The server, {benchmark.CLIENTS} clients for {seconds:g} s"
    name = "serve" if workers == 1 else f"serve-{workers}-workers"
    _report_figures(call, name, title, "static", began, figures, out)


@store_command
async def mcp_start(call: Invocation, out: Out = None) -> None:
    """The first request to /mcp, which loads the SDK, and how long others wait for it."""
    from benchmarks.serve import mcp_start as benchmark

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder:
        figures = await benchmark.measure(call.url or str(Path(folder) / "bench.db"))
    _report_figures(call, "mcp-start", "The first request to /mcp", "none", began, figures, out)


@store_command
async def cold_start(
    call: Invocation,
    memories: Annotated[
        list[int] | None, typer.Option(min=1, help="Memories of an agent; may be repeated.", show_default=False)
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="New processes for each figure; the best counts.")] = 3,
    out: Out = None,
) -> None:
    """The first recall of an agent with 1,000 and with 100,000 memories, in a new process."""
    from benchmarks import cold_start as benchmark

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder, _progress(call, "Loading") as progress:
        url = call.url or str(Path(folder) / "bench.db")
        figures = await benchmark.measure(url, memories or benchmark.SIZES, progress, rounds=rounds)
    _report_figures(call, "cold-start", "The first recall of an agent", "made-up", began, figures, out)


@store_command
async def cycle(
    call: Invocation,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    patterns: Annotated[bool, typer.Option("--patterns", help="Without the trained reader of statements.")] = False,
    out: Out = None,
) -> None:
    """The consolidation cycle: its cost by stage, without embedding."""
    from benchmarks import cycle as benchmark
    from benchmarks import locomo as conversations
    from longmind.models.embed_open import open_embedder

    chosen = list(conversations.cases(data))[:cases]
    timed, began = benchmark.TimedEmbedder(open_embedder(embedder)), time.perf_counter()
    async with _store(call, timed) as longmind:
        with _progress(call, "Consolidating") as progress:
            figures = await benchmark.measure(longmind, timed, chosen, progress, statement_reader=not patterns)
    _report_figures(call, "cycle", "The consolidation cycle on LoCoMo", embedder, began, figures, out)


@store_command
async def reader(call: Invocation, cases: Only = None, out: Out = None) -> None:
    """The trained reader of statements: turns a second and core, on turns of users."""
    from benchmarks import reader as benchmark
    from longmind.models.statements import open_statement_reader

    trained = open_statement_reader()
    if trained is None:
        raise typer.BadParameter('The reader is not installed: pip install "longmind[models]".')
    began = time.perf_counter()
    with _progress(call, "Reading") as progress:
        figures = benchmark.measure(trained, benchmark.turns()[:cases], progress)
    _report_figures(call, "reader", "The reader of statements", "none", began, figures, out)


@store_command
async def tiers(call: Invocation, embedder: Model = "static", cases: Only = None, out: Out = None) -> None:
    """Multi-level recall against flat recall on the project's own set, at equal numbers of tokens."""
    from benchmarks import tiers as benchmark
    from benchmarks.evaluation import files
    from longmind.models.embed_open import open_embedder

    chosen, began = list(files.cases())[:cases], time.perf_counter()
    async with _store(call, open_embedder(embedder)) as longmind:
        with _progress(call, "Asking") as progress:
            figures = await benchmark.measure(longmind, chosen, progress)
    _report_figures(call, "tiers", "Multi-level and flat recall at equal tokens", embedder, began, figures, out)


@store_command
async def learning(
    call: Invocation,
    seeds: Annotated[int, typer.Option(min=1, help="How many simulated worlds; the bands are over them.")] = 20,
    tasks: Annotated[int, typer.Option(min=40, help="Tasks in each, with memory and without.")] = 200,
    first: Annotated[int, typer.Option(min=0, help="The first seed, to measure with others than before.")] = 0,
    embedder: Model = "static",
    out: Out = None,
) -> None:
    """Learning: whether memory makes an agent better over time, after a restart, and when a rule changes."""
    from benchmarks import learning as benchmark
    from benchmarks import report as results

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder, _progress(call, "Learning") as progress:
        learnt = await benchmark.run(Path(folder), seeds, tasks, embedder, progress, first=first)
    about = {**_about(call, f"Learning at a help desk ({learnt.seeds} seeds)", embedder, began), **learnt.as_json()}
    about["figures"] = [list(row) for row in learnt.figures()]
    if out is not None:
        results.write(out, "learning", about, learnt.chart())
    rows = [[what, f"{value:g}", unit] for what, value, unit in learnt.figures()]
    call.answer(about, lambda: _show_learning(about["title"], learnt, rows))


@store_command
async def soak(
    call: Invocation,
    days: Annotated[int, typer.Option(min=1, help="How many simulated days.")] = 60,
    seed: Annotated[int, typer.Option(help="Another seed gives another life.")] = 1,
    patterns: Annotated[bool, typer.Option("--patterns", help="Without the trained reader of statements.")] = False,
    out: Out = None,
) -> None:
    """Soak: one agent that lives for sixty simulated days, with restarts, and the same questions every week."""
    from benchmarks import report as results
    from benchmarks.soak import weeks as benchmark

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder, _progress(call, "Living") as progress:
        weeks = benchmark.run(Path(folder), days, seed, progress, statement_reader=not patterns)
    about = {**_about(call, f"{days} days of one agent", "static", began), "weeks": weeks}
    about["answered no worse at the end"] = benchmark.answered_no_worse(weeks)
    if out is not None:
        results.write(out, "soak", about, benchmark.chart(weeks))
    head = ["at the end of day", *(str(week["days"]) for week in weeks)]
    call.answer(about, lambda: _show_soak(about["title"], head, weeks))


@store_command
async def taat_signals(call: Invocation, data: Data = DATA) -> None:
    """TAAT: false alarms on chatter, option alerts read rightly, and speed."""
    from benchmarks import taat_signals as benchmark

    rows = benchmark.figures(data)
    title = "Reading trade announcements by rules"
    call.answer(
        {"title": title, "figures": [list(row) for row in rows]},
        lambda: _show(title, ["figure", "value", "unit"], [[name, f"{value:.4g}", unit] for name, value, unit in rows]),
    )


@store_command
async def taat_replay(
    call: Invocation,
    posts: Annotated[int, typer.Option(min=1, help="How many posts are replayed.")] = 2_000,
    out: Out = None,
) -> None:
    """TAAT: from invented posts to positions, with memory and paper account: posts a second and core."""
    from benchmarks import taat_replay as benchmark

    began = time.perf_counter()
    figures = await benchmark.figures(posts)
    _report_figures(call, "taat-replay", "TAAT: from posts to positions", "static", began, figures, out)


@store_command
async def versions(
    call: Invocation,
    trials: Annotated[int, typer.Option(min=1, help="How many simulated trials for each pair of rates.")] = 500,
    share: Annotated[float, typer.Option(min=0.01, max=0.99, help="The share of runs that try the candidate.")] = 0.3,
) -> None:
    """Versions of a procedure: how soon and how often the learning rule chooses the better one."""
    from benchmarks import version_choice as benchmark
    from longmind.systems.procedural import TrialRule

    rule = TrialRule(share=share)
    summaries = [benchmark.simulate(*rates, rule=rule, trials=trials) for rates in benchmark.RATES]
    head = ["base", "candidate", "median runs", "p90 runs", "candidate taken", "worse taken"]
    rows = [
        [
            f"{summary.base:.2f}",
            f"{summary.candidate:.2f}",
            f"{summary.median_runs:.0f}",
            f"{summary.p90_runs:.0f}",
            f"{summary.candidate_taken:.1%}",
            f"{summary.worse_taken:.1%}",
        ]
        for summary in summaries
    ]
    title = f"Choosing between two versions ({trials} trials each)"
    call.answer(
        {"title": title, "trials": [summary.model_dump() for summary in summaries]}, lambda: _show(title, head, rows)
    )


@store_command
async def context(
    call: Invocation, embedder: Model = "static", out: Out = None, consolidated: Consolidated = False
) -> None:
    """Context: whether 400 tokens hold the memory that a task needs, and nothing of another user."""
    from benchmarks import charts, quality
    from benchmarks import context as benchmark
    from benchmarks import report as results

    persons, began = benchmark.people(), time.perf_counter()
    async with _store(call, embedder) as longmind:
        with _progress(call, "Asking for contexts") as progress:
            for person in persons:
                mem = await benchmark.load(longmind, person)
                if consolidated:
                    await mem.consolidate()
            answers = await benchmark.ask(longmind, persons, progress)
    lines, figures = benchmark.lines(answers), benchmark.figures(answers)
    title = f"What a context of {benchmark.TOKENS} tokens holds{', after consolidation' if consolidated else ''}"
    result = {
        **_about(call, f"{title} ({embedder}, {_backend(call)})", embedder, began),
        "lines": quality.as_json(lines),
        "figures": [list(row) for row in figures],
        "missed": [[a.person.user, a.way, a.task.type, a.task.text, a.task.words] for a in answers if not a.found],
    }
    if out is not None:
        shares = {(line.half, line.category): line.scores["context"] for line in lines}
        groups = ["all", *benchmark.TYPES]
        series = {half: [shares.get((half, group)) for group in groups] for half in ("tuned", "untouched")}
        file = f"context{'-consolidated' if consolidated else ''}-{embedder}-{_backend(call)}"
        results.write(out, file, result, charts.bars(f"{title}, {embedder} (% of tasks)", groups, series))

    def show() -> None:
        _show(result["title"], *results.quality_rows(lines))
        _show("", ["figure", "value", "unit"], [[name, f"{value:g}", unit] for name, value, unit in figures])
        _show("", ["user", "way", "type", "missed task", "needs"], result["missed"])

    call.answer(result, show)


@store_command
async def sharing(call: Invocation, embedder: Model = "static") -> None:
    """Sharing: what a fleet of agents comes to share, and that nothing about a person is among it."""
    from benchmarks import sharing as benchmark

    whole, began = benchmark.fleet(), time.perf_counter()
    async with _store(call, embedder) as longmind:
        with _progress(call, "Telling the agents") as progress:
            await benchmark.share(longmind, whole, progress)
        figures = await benchmark.figures(longmind, whole)
    about = _about(call, f"What eight agents share ({embedder}, {_backend(call)})", embedder, began)
    rows = [[name, f"{value:g}", unit] for name, value, unit in figures]
    call.answer(
        {**about, "figures": [list(row) for row in figures]},
        lambda: _show(str(about["title"]), ["figure", "value", "unit"], rows),
    )


def report(
    folder: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the results are.")] = OUT,
) -> None:
    """Write one page of all results, beside their folder."""
    from benchmarks.report import page

    if not any(folder.glob("*.json")):
        raise typer.BadParameter(f"There are no results in {folder}.", param_hint="--out")
    written = folder.with_suffix(".md")
    written.write_text(page(folder), encoding="utf-8")
    screen.console().print(f"Wrote {written}.")


for _command in (
    evaluation,
    context,
    locomo,
    calibration,
    candidates,
    answers,
    beam,
    facts,
    hops,
    qmsum,
    speed,
    scale,
    serve,
    mcp_start,
    cold_start,
    cycle,
    reader,
    tiers,
    learning,
    soak,
    taat_signals,
    taat_replay,
    versions,
    sharing,
    report,
):
    app.command(_command.__name__.replace("_", "-"))(_command)


async def _quality(
    call: Invocation,
    name: str,
    data: Path,
    embedder: str,
    only: int | None,
    out: Path | None,
    *,
    consolidated: bool = False,
    read_ahead: bool = False,
) -> None:
    from benchmarks import quality
    from benchmarks import report as results
    from benchmarks.sets import SETS

    evaluation_set, began = SETS[name], time.perf_counter()
    cases = list(evaluation_set.cases(data))[:only]
    ahead = quality.ReadingAhead() if read_ahead else None
    async with _store(call, embedder, read_ahead=read_ahead) as longmind:
        with _progress(call, evaluation_set.title) as progress:
            lines = await quality.run(longmind, evaluation_set, cases, progress, consolidated=consolidated, ahead=ahead)
            figures = await evaluation_set.figures(longmind, cases, progress) if evaluation_set.figures else []
        reranked = (await longmind.recaller()).reranker is not None
    title = f"{evaluation_set.title}{', after consolidation' if consolidated else ''}"
    if reranked and ahead is not None:
        title += ", read ahead"
        figures += ahead.figures()
    if reranked:
        title += f", reranked within {longmind.settings.rerank_ms:g} ms"
    result = {
        **_about(call, f"{title} ({embedder}, {_backend(call)})", embedder, began),
        "set": name,
        "lines": quality.as_json(lines),
    }
    if figures:
        result["figures"] = [list(row) for row in figures]
    if out is not None:
        chart = results.quality_chart(name, f"{title}, {embedder}", lines)
        ways = {"consolidated": consolidated, "reranked": reranked, "ahead": reranked and read_ahead}
        variant = "".join(f"-{way}" for way, taken in ways.items() if taken)
        results.write(out, f"{name}{variant}-{embedder}-{_backend(call)}", result, chart)

    def show() -> None:
        _show(result["title"], *results.quality_rows(lines))
        if figures:
            _show("", ["figure", "value", "unit"], [[name, f"{value:g}", unit] for name, value, unit in figures])

    call.answer(result, show)


def _show_soak(title: str, head: Sequence[str], weeks: Sequence[dict[str, Any]]) -> None:
    """Show the measures of each week, and then in words what was learnt."""
    from benchmarks.soak import weeks as benchmark

    _show(title, head, benchmark.rows(weeks))
    _show("At the end, in words", ["what", "text"], benchmark.texts(weeks))


def _show_learning(title: str, learnt: LearningReport, rows: Sequence[Sequence[str]]) -> None:
    """Show success by block of tasks, and then the figures."""
    blocks = [
        [name, f"{on.mean:.0f} ({on.low:.0f} to {on.high:.0f})", f"{off.mean:.0f}", f"{a.mean:.1f}", f"{b.mean:.1f}"]
        for name, on, off, a, b in zip(
            learnt.blocks, learnt.on, learnt.off, learnt.steps_on, learnt.steps_off, strict=True
        )
    ]
    _show(title, ["tasks", "solved %, with memory", "without", "steps, with memory", "without"], blocks)
    _show("", ["figure", "value", "unit"], rows)


def _report_figures(
    call: Invocation,
    name: str,
    title: str,
    embedder: str,
    began: float,
    figures: Sequence[tuple[str, float, str]],
    out: Path | None,
) -> None:
    from benchmarks import charts
    from benchmarks import report as results

    result = {**_about(call, f"{title} ({_backend(call)})", embedder, began), "figures": [list(row) for row in figures]}
    if out is not None:
        timed = [(what, value) for what, value, unit in figures if unit.startswith("ms")]
        chart = charts.bars(title, [what for what, _ in timed], {"ms": [value for _, value in timed]}, "ms")
        results.write(out, f"{name}-{_backend(call)}", result, chart)
    rows = [[what, f"{value:g}", unit] for what, value, unit in figures]
    call.answer(result, lambda: _show(result["title"], ["figure", "value", "unit"], rows))


def _about(call: Invocation, title: str, embedder: str, began: float) -> dict[str, Any]:
    from benchmarks.report import machine

    seconds = round(time.perf_counter() - began, 1)
    return {"title": title, "embedder": embedder, "backend": _backend(call), "seconds": seconds, "machine": machine()}


def _backend(call: Invocation) -> str:
    url = call.url or ""
    return "postgres" if url.startswith("postgres") else "memory" if url.startswith("memory:") else "sqlite"


@asynccontextmanager
async def _store(call: Invocation, embedder: Any, *, read_ahead: bool = False) -> AsyncIterator[Longmind]:
    """Open the store that the options name, or a temporary one; with ``read_ahead`` also if the environment says 0."""
    from longmind.config import Settings
    from longmind.memory import Longmind

    settings = Settings.load()
    if read_ahead and not settings.read_ahead:
        settings = settings.model_copy(update={"read_ahead": Settings().read_ahead})
    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder:
        url = call.url or str(Path(folder) / "bench.db")
        async with Longmind.open(url, embedder=embedder, settings=settings) as longmind:
            yield longmind


@contextmanager
def _progress(call: Invocation, text: str) -> Iterator[Callable[[float], None]]:
    with bar(call, text, 1.0) as update:
        yield lambda done: update(done)


def _show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    out = screen.console()
    table = screen.table(*head)
    for row in rows:
        table.add_row(*row)
    out.print(title)
    out.print(table)
