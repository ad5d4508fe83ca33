"""The settings of a server: defaults, the environment, and what wins."""

from __future__ import annotations

import pytest

from longmind.errors import InvalidSetting
from longmind.server import ServerSettings

TOKENS = {"LONGMIND_SERVER_OIDC_ISSUER": "https://login.example.com", "LONGMIND_SERVER_OIDC_AUDIENCE": "longmind"}


def test_the_environment_sets_every_field_and_an_argument_wins() -> None:
    environment = {
        "LONGMIND_SERVER_PORT": "9000",
        "LONGMIND_SERVER_CONSOLIDATION": "false",
        "LONGMIND_SERVER_RATE_PER_SECOND": "2.5",
        "LONGMIND_SERVER_TENANTS_OPEN": "",
        "LONGMIND_SERVER_METRICS_KEY": "secret",
    }
    settings = ServerSettings.load(environment, port=None, rate_per_second=7.0)
    assert (settings.port, settings.consolidation, settings.rate_per_second) == (9000, False, 7.0)
    assert settings.tenants_open == ServerSettings().tenants_open
    assert "secret" not in repr(settings)
    assert ServerSettings.load({}) == ServerSettings()
    assert "auth" not in settings.model_fields_set


def test_a_provider_in_the_environment_means_tokens() -> None:
    given = {**TOKENS, "LONGMIND_SERVER_OIDC_ALGORITHMS": "ES256, EdDSA"}
    settings = ServerSettings.load(given, tokens={"audience": "another", "user_claim": None})
    assert settings.tokens is not None
    assert (settings.auth, settings.tokens.audience) == ("oidc", "another")
    assert settings.tokens.algorithms == ("ES256", "EdDSA")
    assert ServerSettings.load({**TOKENS, "LONGMIND_SERVER_AUTH": "keys"}).auth == "keys"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"LONGMIND_SERVER_PORT": "many"}, "The setting port of the server is not usable"),
        ({"LONGMIND_SERVER_AUTH": "maybe"}, "The setting auth of the server is not usable"),
        ({"LONGMIND_SERVER_AUTH": "oidc"}, "Tokens need an issuer and an audience"),
        ({"LONGMIND_SERVER_OIDC_ISSUER": "https://login.example.com"}, "Tokens need an issuer and an audience"),
        ({**TOKENS, "LONGMIND_SERVER_OIDC_ISSUER": "http://login.example.com"}, "no https:// address"),
    ],
)
def test_what_is_not_usable_is_told(environment: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        ServerSettings.load(environment)
