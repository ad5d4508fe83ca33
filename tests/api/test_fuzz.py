"""Schemathesis over the whole OpenAPI document against a live server: no server error, and only what it describes.

What the document allows must be accepted, but for the reasons in ``unsaid.py``; what it forbids must be refused.

``LONGMIND_FUZZ_EXAMPLES`` is the number of examples for each operation, ``LONGMIND_FUZZ_BACKEND`` is ``sqlite`` or
``postgresql``, ``LONGMIND_FUZZ_TAG`` leaves only the operations with a tag, ``LONGMIND_FUZZ_SEED`` gives other
examples, and operations in the file ``LONGMIND_FUZZ_REPORT`` are left out. ``tests/api/fuzz.py`` sets them:
``make api-fuzz`` runs 300 examples on both backends.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from tests.api.fuzz import left_out, statuses
from tests.api.unsaid import is_unsaid

from longmind import Settings
from longmind.errors import Unauthenticated
from longmind.security import Credentials, Principal
from longmind.server import ServerSettings, create_app
from longmind.server.listening import address_of, listen
from longmind.server.rest.openapi import openapi
from longmind.server.rest.state import Access
from longmind.server.serve import run

# The server is a thread of this process, and what it draws by chance is taken for a part of the examples.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
EXAMPLES = int(os.environ.get("LONGMIND_FUZZ_EXAMPLES", "1"))
KEY = {"Authorization": "Bearer fuzz"}
DOCUMENT = openapi("1")
OTHER_HEADERS = {
    parameter["name"]
    for path in DOCUMENT["paths"].values()
    for operation in path.values()
    for parameter in operation.get("parameters", ())
    if parameter["in"] == "header"
}
SEED = int(os.environ.get("LONGMIND_FUZZ_SEED", "1"))
CONFIG = SchemathesisConfig.from_dict(
    {
        "seed": SEED,
        "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "3xx", "403", "404", "409", "422"]}},
        "phases": {"coverage": {"enabled": EXAMPLES >= 100}},
    }
)
schema = schemathesis.openapi.from_dict(DOCUMENT, config=CONFIG).exclude(path_regex="/changes$")
if tag := os.environ.get("LONGMIND_FUZZ_TAG"):
    schema = schema.include(tag=tag)
if finished := left_out():
    schema = schema.exclude(name=finished)


class OneKey:
    """Takes those with the key for the administrator of the tenant."""

    async def authenticate(self, credentials: Credentials) -> Principal:
        if credentials.authorization != KEY["Authorization"]:
            raise Unauthenticated
        return Principal(tenant="default", permissions=frozenset({"admin"}))


@pytest.fixture(scope="session")
def fuzzed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server in a thread of its own."""
    url = str(tmp_path_factory.mktemp("fuzz") / "memory.db")
    if os.environ.get("LONGMIND_FUZZ_BACKEND") == "postgresql":
        url = request.getfixturevalue("postgres_url")

    async def count(access: Access) -> None:
        statuses[access.status] += 1

    limits = {"rate_per_second": 100_000, "rate_burst": 100_000, "failures_per_minute": 100_000}
    served = ServerSettings(consolidation=False, request_seconds=30, **limits)
    app = create_app(
        url,
        served,
        authenticator=OneKey(),
        library=Settings.load({"LONGMIND_EMBEDDER": "none"}),
    )
    app.state.server.observers.append(count)
    started, stop, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()
    with listen("127.0.0.1", 0, served) as listening:
        serving = threading.Thread(target=loop.run_until_complete, args=(run(app, listening, started.set, stop),))
        serving.start()
        assert started.wait(60)
        try:
            yield address_of(listening)
        finally:
            loop.call_soon_threadsafe(stop.set)
            serving.join()
            loop.close()


@pytest.fixture(scope="session")
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
def test_every_operation_answers_as_the_document_says(
    case: schemathesis.Case, fuzzed: str, session: requests.Session
) -> None:
    headers = {} if _keyless(case) else KEY
    response = case.call_and_validate(base_url=fuzzed, session=session, headers=headers, timeout=60)
    if response.status_code in (403, 422) and (case.meta is None or case.meta.generation.mode.is_positive):
        detail = response.json()["detail"]
        assert is_unsaid(detail), f"refused though the document allows it: {detail}"


def _keyless(case: schemathesis.Case) -> bool:
    """Return whether the key of a request is what is wrong with it, or one of the things that are."""
    if case.meta is None or case.meta.generation.mode.is_positive:
        return False
    header = case.meta.components.get(ParameterLocation.HEADER)
    if header is None or header.mode.is_positive:
        return False
    data = case.meta.phase.data
    changed = [each for each in data.mutations if each.parameter_location is ParameterLocation.HEADER]
    if changed:
        return any((each.parameter or each.original_value) not in OTHER_HEADERS for each in changed)
    return data.parameter_location in (None, ParameterLocation.HEADER) and data.parameter not in OTHER_HEADERS
