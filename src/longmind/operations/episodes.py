"""Episodes and their events."""

from longmind.operations.faces import EPISODIC
from longmind.operations.operation import Noun

_episodes = Noun("episodes", EPISODIC)

OPERATIONS = (
    _episodes.post(
        "/episodes", "start", status=201, example={"title": "Moving to Lisbon", "type": "move", "tags": ["home"]}
    ),
    _episodes.get("/episodes", "list"),
    _episodes.get("/episodes/recent", "recent"),
    _episodes.post("/episodes/search", "search", permission="read", result_name="hits", example={"text": "the move"}),
    _episodes.post("/episodes/lessons", "lessons", permission="read", example={"task": "move house"}),
    _episodes.get("/episodes/clusters", "clusters"),
    _episodes.get("/episodes/timeline", "timeline"),
    _episodes.get("/episodes/meanwhile", "meanwhile"),
    _episodes.get("/episodes/by-key/{key}", "find", none_is_missing=True),
    _episodes.get("/episodes/{id}", "get"),
    _episodes.post(
        "/episodes/{episode}/events",
        "record",
        status=201,
        idempotency="key",
        example={"what": "Packed the books.", "type": "note"},
    ),
    _episodes.post(
        "/episodes/batch",
        "record_all",
        status=201,
        example={
            "entries": [
                {
                    "key": "move",
                    "title": "Moving to Lisbon",
                    "start": "2026-05-01T08:00:00Z",
                    "events": [{"what": "Packed the books.", "at": "2026-05-01T09:00:00Z"}],
                }
            ]
        },
    ),
    _episodes.post("/episodes/{episode}/finish", "finish", example={"outcome": "succeeded", "note": "all arrived"}),
    _episodes.post("/episodes/{episode}/outcome", "judge", example={"outcome": "succeeded"}),
    _episodes.get("/episodes/{episode}/narrative", "narrate"),
    _episodes.get("/episodes/{episode}/replay", "replay", without={"longest_pause", "speed"}),
    _episodes.get("/events", "events", name="episodes.events"),
    _episodes.get("/episodes/{episode}/events/by-key/{key}", "find_event", none_is_missing=True),
    _episodes.get("/episodes/{episode}/events/by-keys", "find_events"),
    _episodes.get("/events/by-keys", "find_unique_events"),
    _episodes.get("/events/{id}", "event", name="episodes.event"),
)
