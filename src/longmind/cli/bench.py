"""``longmind bench``: measure recall, speed and size, and keep what was found.

The evaluation sets are not part of Longmind; ``--data`` names the folder that holds them. Everything runs in a store
of its own that is thrown away, unless ``--url`` names one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.command import Call, store_command
from longmind.cli.progress import bar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longmind.bench.learning import Learnt
    from longmind.memory import Longmind

app = typer.Typer(
    name="bench", help="Measure recall, speed and size.", no_args_is_help=True, pretty_exceptions_enable=False
)

Data = Annotated[Path, typer.Option(metavar="FOLDER", help="The folder with the evaluation sets.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Keep JSON and a chart here; by default nothing is kept.")
]
Model = Annotated[str, typer.Option("--embedder", metavar="NAME", help="static, minilm, or another that is installed.")]
Only = Annotated[int | None, typer.Option("--cases", min=1, help="Only so many cases of the set, for a quick look.")]
DATA, OUT = Path("../shared/data"), Path("docs/benchmarks")


@store_command
async def locomo(
    call: Call,
    data: Data = DATA,
    embedder: Model = "static",
    cases: Only = None,
    out: Out = None,
    consolidated: Annotated[
        bool, typer.Option("--consolidated", help="Consolidate each conversation before it is asked.")
    ] = False,
) -> None:
    """LoCoMo: how much of the evidence is recalled, by turn and by session."""
    await _quality(call, "locomo", data, embedder, cases, out, consolidated=consolidated)


@store_command
async def beam(call: Call, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None) -> None:
    """BEAM 100K: how much of the evidence is recalled, by message."""
    await _quality(call, "beam", data, embedder, cases, out)


@store_command
async def facts(call: Call, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None) -> None:
    """FactConsolidation: whether the newest value of a fact is the top hit."""
    await _quality(call, "facts", data, embedder, cases, out)


@store_command
async def qmsum(call: Call, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None) -> None:
    """QMSum: whether a turn of the relevant span is recalled."""
    await _quality(call, "qmsum", data, embedder, cases, out)


@store_command
async def speed(call: Call, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None) -> None:
    """What adding and recalling cost at LoCoMo size, stage by stage."""
    from longmind.bench import datasets
    from longmind.bench import speed as measured
    from longmind.bench.replay import Replay
    from longmind.models.open import open_embedder

    chosen = list(datasets.locomo(data))[:cases]
    replay, began = Replay(open_embedder(embedder)), time.perf_counter()
    async with _store(call, replay) as rc:
        with _progress(call, "Measuring") as told:
            figures = await measured.run(rc, replay, chosen, told)
    _tell_figures(call, "speed", "Speed at LoCoMo size", embedder, began, figures, out)


@store_command
async def scale(
    call: Call,
    memories: Annotated[int, typer.Option(min=1_000, help="How many memories.")] = 100_000,
    agents: Annotated[
        int, typer.Option(min=1, help="Of how many agents; with 1 the search is compared with exact.")
    ] = 100,
    out: Out = None,
) -> None:
    """Much to remember: many agents in one store, or one agent with very many memories."""
    from longmind.bench import scale as measured
    from longmind.bench.replay import MadeUp

    began = time.perf_counter()
    async with _store(call, MadeUp()) as rc:
        with _progress(call, "Filling and asking") as told:
            if agents == 1:
                figures = await measured.one_agent(rc, memories, told)
            else:
                figures = await measured.many_agents(rc, agents, memories, told)
    title = f"Scale: {memories:,} memories of {screen.counted(agents, 'agent')}"
    _tell_figures(call, f"scale-{memories}-{agents}", title, "made-up", began, figures, out)


@store_command
async def cycle(call: Call, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None) -> None:
    """What the consolidation cycle costs, stage by stage, with embedding left out."""
    from longmind.bench import cycle as measured
    from longmind.bench import datasets
    from longmind.models.open import open_embedder

    chosen = list(datasets.locomo(data))[:cases]
    timed, began = measured.Timed(open_embedder(embedder)), time.perf_counter()
    async with _store(call, timed) as rc:
        with _progress(call, "Consolidating") as told:
            figures = await measured.measure(rc, timed, chosen, told)
    _tell_figures(call, "cycle", "The consolidation cycle on LoCoMo", embedder, began, figures, out)


@store_command
async def learning(
    call: Call,
    seeds: Annotated[int, typer.Option(min=1, help="How many worlds; the bands are over them.")] = 20,
    tasks: Annotated[int, typer.Option(min=40, help="Tasks in each, with memory and without.")] = 200,
    embedder: Model = "static",
    out: Out = None,
) -> None:
    """Whether memory makes an agent better: success and steps over time, facts told once, and a rule that changes."""
    from longmind.bench import learning as measured
    from longmind.bench import report as kept

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder, _progress(call, "Learning") as told:
        found = await measured.run(Path(folder), seeds, tasks, embedder, told)
    about = {**_about(call, f"Learning at a help desk ({found.seeds} seeds)", embedder, began), **found.as_json()}
    about["figures"] = [list(row) for row in found.figures()]
    if out is not None:
        kept.write(out, "learning", about, found.chart())
    rows = [[what, f"{value:g}", unit] for what, value, unit in found.figures()]
    call.answer(about, lambda: _show_learning(about["title"], found, rows))


def report(
    folder: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the results were kept.")] = OUT,
) -> None:
    """Write the page of all results that were kept, beside their folder."""
    from longmind.bench.report import page

    if not any(folder.glob("*.json")):
        raise typer.BadParameter(f"There are no results in {folder}.", param_hint="--out")
    written = folder.with_suffix(".md")
    written.write_text(page(folder), encoding="utf-8")
    screen.console().print(f"Wrote {written}.")


for _name, _work in {
    "locomo": locomo, "beam": beam, "facts": facts, "qmsum": qmsum, "speed": speed, "scale": scale,
    "cycle": cycle, "learning": learning, "report": report,
}.items():  # fmt: skip
    app.command(_name)(_work)


async def _quality(
    call: Call,
    name: str,
    data: Path,
    embedder: str,
    only: int | None,
    out: Path | None,
    *,
    consolidated: bool = False,
) -> None:
    from longmind.bench import quality
    from longmind.bench import report as kept

    chosen, began = quality.SETS[name], time.perf_counter()
    cases = list(chosen.cases(data))[:only]
    async with _store(call, embedder) as rc:
        with _progress(call, chosen.title) as told:
            lines = await quality.run(rc, chosen, cases, told, consolidated=consolidated)
    title = f"{chosen.title}{', after consolidation' if consolidated else ''}"
    told_all = {
        **_about(call, f"{title} ({embedder}, {_backend(call)})", embedder, began),
        "set": name,
        "lines": quality.as_json(lines),
    }
    if out is not None:
        chart = kept.quality_chart(name, f"{title}, {embedder}", lines)
        file = f"{name}{'-consolidated' if consolidated else ''}-{embedder}-{_backend(call)}"
        kept.write(out, file, told_all, chart)
    call.answer(told_all, lambda: _show(told_all["title"], *kept.quality_rows(lines)))


def _show_learning(title: str, found: Learnt, rows: Sequence[Sequence[str]]) -> None:
    """Success by block of tasks, and then the figures."""
    blocks = [
        [name, f"{on.mean:.0f} ({on.low:.0f} to {on.high:.0f})", f"{off.mean:.0f}", f"{a.mean:.1f}", f"{b.mean:.1f}"]
        for name, on, off, a, b in zip(found.blocks, found.on, found.off, found.steps_on, found.steps_off, strict=True)
    ]
    _show(title, ["tasks", "solved %, with memory", "without", "steps, with memory", "without"], blocks)
    _show("", ["figure", "value", "unit"], rows)


def _tell_figures(
    call: Call,
    name: str,
    title: str,
    embedder: str,
    began: float,
    figures: Sequence[tuple[str, float, str]],
    out: Path | None,
) -> None:
    from longmind.bench import charts
    from longmind.bench import report as kept

    told = {**_about(call, f"{title} ({_backend(call)})", embedder, began), "figures": [list(row) for row in figures]}
    if out is not None:
        timed = [(what, value) for what, value, unit in figures if unit.startswith("ms")]
        chart = charts.bars(title, [what for what, _ in timed], {"ms": [value for _, value in timed]}, "ms")
        kept.write(out, f"{name}-{_backend(call)}", told, chart)
    rows = [[what, f"{value:g}", unit] for what, value, unit in figures]
    call.answer(told, lambda: _show(told["title"], ["figure", "value", "unit"], rows))


def _about(call: Call, title: str, embedder: str, began: float) -> dict[str, Any]:
    from longmind.bench.report import machine

    seconds = round(time.perf_counter() - began, 1)
    return {"title": title, "embedder": embedder, "backend": _backend(call), "seconds": seconds, "machine": machine()}


def _backend(call: Call) -> str:
    url = call.url or ""
    return "postgres" if url.startswith("postgres") else "memory" if url.startswith("memory:") else "sqlite"


@asynccontextmanager
async def _store(call: Call, embedder: Any) -> AsyncIterator[Longmind]:
    """The store the options name, or one that is thrown away afterwards."""
    from longmind.memory import Longmind

    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder:
        async with Longmind.open(call.url or str(Path(folder) / "bench.db"), embedder=embedder) as rc:
            yield rc


@contextmanager
def _progress(call: Call, text: str) -> Iterator[Callable[[float], None]]:
    with bar(call, text, 1.0) as told:
        yield lambda done: told(done)


def _show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    out = screen.console()
    made = screen.table(*head)
    for row in rows:
        made.add_row(*row)
    out.print(title)
    out.print(made)
