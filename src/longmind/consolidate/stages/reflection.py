"""The reflection on a cluster of episodes: how tasks of one kind go.

Rules make it of the episodes' own words. Where there is a language model, it tells the same in a few plain sentences
from the accounts of the latest episodes. Each sentence must quote an account; one that does not is dropped and counted.
If none is left, or the model cannot be asked, the summary that rules made stays. The model is asked once for each size
of a cluster; where it could not be asked, it is asked when the cluster is gone over again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from longmind.consolidate.model import CheckedSummary, PromptText, UnusableAnswer, supported_points
from longmind.consolidate.stages.lessons import EpisodeAccount, narrate_latest
from longmind.consolidate.work import Work
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.episodic import Cluster
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Json, Link, Memory

_RETOLD = "retold"
"""The field of the body that says which model told the summary, and of how many episodes."""


def is_outdated(reflection: Memory, cluster: Cluster) -> bool:
    """Whether a reflection is about other episodes than its cluster has now, or tells of them by other rules."""
    body = _body(cluster)
    if any(reflection.body.get(name) != value for name, value in body.items()):
        return True
    return _RETOLD not in reflection.body and reflection.content != cluster.summary


async def reflection_writes(
    work: Work,
    scoped: ScopedStore,
    cluster: Cluster,
    key: str,
    old: Memory | None,
    accounts: Sequence[EpisodeAccount],
) -> list[Write]:
    """Return the writes that store the summary of episodes that are alike; ``old`` is the reflection so far."""
    outdated = old is None or is_outdated(old, cluster)
    if not outdated and old is not None and _RETOLD in old.body:
        return []
    summary = await _by_model(work, key, accounts)
    if not outdated and summary is None:
        return []
    content, body = _told(cluster, summary)
    first = min(cluster.episodes, key=lambda e: (e.start, e.id))
    record: Memory = old or scoped.new("reflection", content, key=key, body=body)
    teller = f"; told by {summary.answer.model}" if summary is not None and summary.points else ""
    work.notes.why[record.id] = (first.id, f"{len(cluster.episodes)} episodes that are alike{teller}")
    links = [AddLink(Link(source=record.id, relation="derived_from", target=e.id)) for e in cluster.episodes]
    if old is None:
        return [Put(record, existing="fail"), *links]
    return [Update(old.id, {"content": content, "body": body}, old.version), *links]


def _body(cluster: Cluster) -> Json:
    return {
        "episodes": [e.id for e in cluster.episodes],
        "terms": list(cluster.terms),
        "outcomes": dict(cluster.outcomes),
    }


def _told(cluster: Cluster, summary: CheckedSummary | None) -> tuple[str, dict[str, Any]]:
    """Return the text and the body of a reflection: the model's sentences, or else what rules made."""
    body = _body(cluster)
    if summary is None:
        return cluster.summary, body
    body[_RETOLD] = {
        "model": summary.answer.model,
        "prompts": list(summary.answer.prompts),
        "episodes": len(cluster.episodes),
        "quoted": list(dict.fromkeys(id for _, id in summary.points)),
    }
    return "\n".join(sentence for sentence, _ in summary.points) or cluster.summary, body


async def _by_model(work: Work, key: str, accounts: Sequence[EpisodeAccount]) -> CheckedSummary | None:
    """Return the model's summary, checked; None if there is no model or it cannot be asked now.

    Answers are kept for the run, so that a stage that is retried does not ask again.
    """
    model, asked = work.model, (key, len(accounts))
    if model is None or model.summary_writer is None:
        return None
    if asked not in model.reflections:
        narrated = narrate_latest(accounts)
        texts = [
            PromptText(
                number=n,
                speaker=account.episode.outcome,
                date=f"{account.episode.start:%Y-%m-%d}",
                content=account.text,
            )
            for n, account in enumerate(narrated)
        ]
        try:
            answer = await model.ask(partial(model.summary_writer.summarise, texts))
        except UnusableAnswer:
            model.reflections[asked] = CheckedSummary(rejected=Counter(answer=1))
        else:
            if answer is None:
                work.notes.failed = None if model.stopped is None else model.stopped.why
                return None
            points, rejected = supported_points(answer.points, [account.text for account in narrated])
            quoted = [(sentence, narrated[number].episode.id) for sentence, number in points]
            model.reflections[asked] = CheckedSummary(answer, quoted, rejected)
    summary = model.reflections[asked]
    work.notes.rejected.update(summary.rejected)
    return summary
