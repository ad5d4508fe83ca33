"""Learning how an announcer writes, from the readings that somebody confirmed or corrected."""

from datetime import datetime
from typing import Any

from taat.memory import TraderMemory
from taat.memory.conversation import examples
from taat.signals import AnnouncerProfile, learn_profile

_CHATTER = "nothing"


class Habits:
    """The function that the procedure ``learn_habits`` calls."""

    def __init__(self, memory: TraderMemory) -> None:
        self._memory = memory

    async def learn_habits(self, announcer: str, at: str) -> dict[str, Any]:
        """Learn an announcer's vocabulary and habits as facts from the confirmed examples; return what is known now."""
        moment, knowledge = datetime.fromisoformat(at), self._memory.knowledge
        profile = learn_profile(await examples(self._memory, announcer))
        if profile != await knowledge.profile(announcer):
            await knowledge.learn_announcer(announcer, habit_facts(profile), valid_from=moment)
            await knowledge.set_profile(announcer, profile, valid_from=moment)
        return profile.model_dump(mode="json", exclude_defaults=True)


def habit_facts(profile: AnnouncerProfile) -> dict[str, str | int | float | bool]:
    """Return a profile as facts that people can read."""
    facts: dict[str, str | int | float | bool] = {"confirmed examples": profile.examples}
    if profile.default_side:
        facts["usual side"] = profile.default_side
    if profile.default_asset:
        facts["usually trades"] = profile.default_asset.value
    if profile.default_symbol:
        facts["usual symbol"] = profile.default_symbol
    if profile.scale is not None:
        facts["leaves with each scale"] = f"{profile.scale * 100:f} %"
    for phrase in profile.phrases:
        meaning = " ".join(filter(None, (phrase.action or _CHATTER, phrase.side)))
        facts[f"means by “{phrase.text}”"] = meaning
    return facts
