"""``recollect bench``: measure recall, speed and size, and keep what was found.

The evaluation sets are not part of Recollect; ``--data`` names the folder that holds them. Everything runs in a store
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

from recollect.cli import screen
from recollect.cli.command import Call, store_command
from recollect.cli.progress import bar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.memory import Recollect

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
    call: Call, data: Data = DATA, embedder: Model = "static", cases: Only = None, out: Out = None
) -> None:
    """LoCoMo: how much of the evidence is recalled, by turn and by session."""
    await _quality(call, "locomo", data, embedder, cases, out)


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
    from recollect.bench import datasets
    from recollect.bench import speed as measured
    from recollect.bench.replay import Replay
    from recollect.models.open import open_embedder

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
    from recollect.bench import scale as measured
    from recollect.bench.replay import MadeUp

    began = time.perf_counter()
    async with _store(call, MadeUp()) as rc:
        with _progress(call, "Filling and asking") as told:
            if agents == 1:
                figures = await measured.one_agent(rc, memories, told)
            else:
                figures = await measured.many_agents(rc, agents, memories, told)
    title = f"Scale: {memories:,} memories of {screen.counted(agents, 'agent')}"
    _tell_figures(call, f"scale-{memories}-{agents}", title, "made-up", began, figures, out)


def report(
    folder: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the results were kept.")] = OUT,
) -> None:
    """Write the page of all results that were kept, beside their folder."""
    from recollect.bench.report import page

    written = folder.with_suffix(".md")
    written.write_text(page(folder), encoding="utf-8")
    screen.console().print(f"Wrote {written}.")


for _name, _work in {
    "locomo": locomo, "beam": beam, "facts": facts, "qmsum": qmsum, "speed": speed, "scale": scale, "report": report,
}.items():  # fmt: skip
    app.command(_name)(_work)


async def _quality(call: Call, name: str, data: Path, embedder: str, only: int | None, out: Path | None) -> None:
    from recollect.bench import quality
    from recollect.bench import report as kept

    chosen, began = quality.SETS[name], time.perf_counter()
    cases = list(chosen.cases(data))[:only]
    async with _store(call, embedder) as rc:
        with _progress(call, chosen.title) as told:
            lines = await quality.run(rc, chosen, cases, told)
    told_all = {
        **_about(call, f"{chosen.title} ({embedder}, {_backend(call)})", embedder, began),
        "set": name,
        "lines": quality.as_json(lines),
    }
    if out is not None:
        chart = kept.quality_chart(name, f"{chosen.title}, {embedder}", lines)
        kept.write(out, f"{name}-{embedder}-{_backend(call)}", told_all, chart)
    call.answer(told_all, lambda: _show(told_all["title"], *kept.quality_rows(lines)))


def _tell_figures(
    call: Call,
    name: str,
    title: str,
    embedder: str,
    began: float,
    figures: Sequence[tuple[str, float, str]],
    out: Path | None,
) -> None:
    from recollect.bench import charts
    from recollect.bench import report as kept

    told = {**_about(call, f"{title} ({_backend(call)})", embedder, began), "figures": [list(row) for row in figures]}
    if out is not None:
        timed = [(what, value) for what, value, unit in figures if unit.startswith("ms")]
        chart = charts.bars(title, [what for what, _ in timed], {"ms": [value for _, value in timed]}, "ms")
        kept.write(out, f"{name}-{_backend(call)}", told, chart)
    rows = [[what, f"{value:g}", unit] for what, value, unit in figures]
    call.answer(told, lambda: _show(told["title"], ["figure", "value", "unit"], rows))


def _about(call: Call, title: str, embedder: str, began: float) -> dict[str, Any]:
    from recollect.bench.report import machine

    seconds = round(time.perf_counter() - began, 1)
    return {"title": title, "embedder": embedder, "backend": _backend(call), "seconds": seconds, "machine": machine()}


def _backend(call: Call) -> str:
    url = call.url or ""
    return "postgres" if url.startswith("postgres") else "memory" if url.startswith("memory:") else "sqlite"


@asynccontextmanager
async def _store(call: Call, embedder: Any) -> AsyncIterator[Recollect]:
    """The store the options name, or one that is thrown away afterwards."""
    from recollect.memory import Recollect

    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        async with Recollect.open(call.url or str(Path(folder) / "bench.db"), embedder=embedder) as rc:
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
