"""The files in deploy/: every command, option and variable in them is one that the code has."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from typer.main import get_command

from longmind.cli import app
from longmind.config import PREFIX, SYSTEMS, Settings, variable_of
from longmind.server import ServerSettings, create_app
from longmind.server.settings import SERVER_PREFIX
from longmind.store.postgres.install import OLDEST_SERVER
from longmind.systems.configuration import settings_class
from longmind.worker.models import WorkerOptions

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service["image"] == "longmind"]
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PAGES = {page.name: page.read_text("utf-8") for page in (ROOT / "docs" / "operations").glob("*.md")}
PASSWORDS = {"LONGMIND_DB_PASSWORD", "LONGMIND_APP_PASSWORD"}
"""Variables of the compose file itself, and of the script that makes the roles."""
OF_LIBPQ = {"PGPASSWORD"}


def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile and what they say."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, " ".join(rest.split())) for name, _, rest in (line.partition(" ") for line in lines)]


def said(instruction: str) -> str:
    """What the last instruction of a name says."""
    return [rest for name, rest in dockerfile() if name == instruction][-1]


def unit(path: Path) -> dict[str, list[str]]:
    """The settings of a unit, each with all its values."""
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


def parsed(words: list[str]) -> dict[str, Any]:
    """The options of a command line of ``longmind``, read by the command itself; what it does not know is an error."""
    command: Any = get_command(app)
    while hasattr(command, "commands"):
        assert words[0] in command.commands, f"there is no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    values: dict[str, Any] = command.make_context(command.name, list(words)).params
    return values


def test_a_wrong_command_line_is_noticed() -> None:
    for words in (["server"], ["serve", "--hosts", "0.0.0.0"], ["serve", "--port", "many"], ["keys", "create"]):
        with pytest.raises(Exception, match=r"no command|No such option|valid integer|Missing parameter"):
            parsed(words)


def command_lines() -> dict[str, list[str]]:
    """Every command line of the files, and of the page about them."""
    found = {f"service {name}": SERVICES[name]["command"] for name in OURS}
    found["Dockerfile"] = json.loads(said("CMD"))
    for path in UNITS:
        (line,) = unit(path)["ExecStart"]
        found[path.name] = shlex.split(line)[1:]
    for name in ("deploy.md", "postgresql.md"):
        for number, match in enumerate(
            re.finditer(r"(?<![/\w-])longmind ((?:keys|doctor|serve|worker)\b[^`\n]*)", PAGES[name])
        ):
            found[f"{name} {number}"] = shlex.split(match[1])
    for path in (DEPLOY / "Dockerfile", DEPLOY / "compose.yml"):
        for number, match in enumerate(re.finditer(r"^#.* longmind (keys .*)$", path.read_text("utf-8"), re.MULTILINE)):
            found[f"{path.name} {number}"] = shlex.split(match[1])
    return found


@pytest.mark.parametrize("words", command_lines().values(), ids=command_lines())
def test_every_command_line_is_understood(words: list[str]) -> None:
    parsed(words)


def settings() -> set[str]:
    """Every variable that a process heeds."""
    own = {PREFIX + name.upper() for name in Settings.model_fields if name != "defaults"}
    own |= {SERVER_PREFIX + name.upper() for name in ServerSettings.model_fields if name != "tokens"}
    return own | {variable_of(system, name) for system in SYSTEMS for name in settings_class(system).model_fields}


def test_every_variable_is_a_setting() -> None:
    named = {name for service in OURS for name in SERVICES[service]["environment"]} - OF_LIBPQ
    named |= {name for name in re.findall(r"(\w+)=", said("ENV")) if name.startswith(PREFIX)}
    named |= {value.partition("=")[0] for path in UNITS for value in unit(path)["Environment"]}
    named |= set(re.findall(r"\bLONGMIND_[A-Z_]+\b", PAGES["deploy.md"] + PAGES["postgresql.md"])) - PASSWORDS
    assert "LONGMIND_URL" in named
    assert named <= settings()


def test_every_variable_that_the_compose_file_asks_for_is_told() -> None:
    text = (DEPLOY / "compose.yml").read_text("utf-8")
    asked = set(re.findall(r"\${(\w+)", text))
    assert asked == PASSWORDS
    assert set(re.findall(r"\\getenv \w+ (\w+)", (DEPLOY / "postgres" / "roles.sql").read_text("utf-8"))) == asked
    assert all(f"{name}=" in PAGES["deploy.md"] and f"{name}=" in text for name in asked)


def test_the_database_has_pgvector_and_is_new_enough() -> None:
    image = re.fullmatch(r"pgvector/pgvector:(\d+)\.(\d+)\.\d+-pg(\d+)", SERVICES["db"]["image"])
    assert image is not None
    assert (int(image[1]), int(image[2])) >= (0, 7)
    assert int(image[3]) >= OLDEST_SERVER
    assert f"version {OLDEST_SERVER} or newer" in PAGES["postgresql.md"]
    assert f"`LONGMIND_POOL_SIZE` ({Settings.model_fields['pool_size'].default})" in PAGES["postgresql.md"]


def test_everything_is_reachable_from_this_machine_only() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_roles_are_those_that_are_made() -> None:
    made = set(re.findall(r"^CREATE ROLE (\w+)", (DEPLOY / "postgres" / "roles.sql").read_text("utf-8"), re.MULTILINE))
    urls = {name: urlsplit(SERVICES[name]["environment"]["LONGMIND_URL"]) for name in OURS}
    assert {url.username for url in urls.values()} == made == {"longmind", "longmind_app"}
    assert {(url.scheme, url.hostname, url.path) for url in urls.values()} == {("postgresql", "db", "/longmind")}
    assert SERVICES["db"]["environment"]["POSTGRES_DB"] == "longmind"
    assert urls["server"].username == parsed(SERVICES["migrate"]["command"])["create_role"] == "longmind_app"
    assert urls["migrate"].username == urls["worker"].username == "longmind"


def test_the_server_starts_after_the_migration() -> None:
    assert SERVICES["migrate"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    for name in ("server", "worker"):
        assert SERVICES[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}


def test_a_server_that_others_reach_needs_keys() -> None:
    for words in (SERVICES["server"]["command"], json.loads(said("CMD"))):
        values = parsed(words)
        assert (values["host"], values["auth"]) == ("0.0.0.0", "keys")
        assert ServerSettings.load({}, port=values["port"]).port == int(said("EXPOSE"))
    assert SERVICES["server"]["ports"] == [f"127.0.0.1:{said('EXPOSE')}:{said('EXPOSE')}"]
    assert parsed(SERVICES["server"]["command"])["consolidation"] is False  # the worker does that


def test_the_containers_may_do_little() -> None:
    for name in OURS:
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", said("USER"))
    assert "--mode 0700 " + said("VOLUME") in said("RUN")
    assert dict(re.findall(r"(\w+)=(\S+)", said("ENV")))["LONGMIND_URL"].startswith(said("VOLUME") + "/")


def test_health_is_asked_for_at_a_path_that_there_is() -> None:
    (url,) = re.findall(r"http://[^']+", said("HEALTHCHECK"))
    served = {getattr(route, "path", "") for route in create_app("memory:", ServerSettings()).routes}
    assert urlsplit(url).path == "/readyz"
    assert {"/readyz", "/healthz", "/metrics"} <= served
    assert urlsplit(url).port == int(said("EXPOSE"))
    assert all(SERVICES[name]["healthcheck"] == {"disable": True} for name in OURS if name != "server")
    assert "healthcheck" not in SERVICES["server"]  # that of the image


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {
        name for text, rest in dockerfile() if text == "COPY" and "--from" not in rest for name in rest.split()[:-1]
    }
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {project["readme"], *project["license-files"]} <= copied
    extras = re.findall(
        r"\[([\w,]+)\]", "".join(rest for name, rest in dockerfile() if name == "RUN") + PAGES["deploy.md"]
    )
    assert extras
    assert all(set(names.split(",")) <= set(project["optional-dependencies"]) for names in extras)
    assert json.loads(said("ENTRYPOINT")) == ["longmind"]
    assert "longmind" in project["scripts"]


def test_nothing_is_killed_before_it_could_finish() -> None:
    longest = max(ServerSettings().request_seconds + 5, WorkerOptions().grace_seconds)
    waits = [int(unit(path)["TimeoutStopSec"][0]) for path in UNITS]
    waits += [int(SERVICES[name]["stop_grace_period"].removesuffix("s")) for name in ("server", "worker")]
    assert all(wait > longest for wait in waits)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_is_valid_and_may_do_little(path: Path, tmp_path: Path) -> None:
    told = unit(path)
    for name, value in {
        "User": "longmind",
        "StateDirectoryMode": "0700",
        "UMask": "0077",
        "ProtectSystem": "strict",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
    }.items():
        assert told[name] == [value]
    (url,) = told["Environment"]
    assert url == f"LONGMIND_URL=/var/lib/{told['StateDirectory'][0]}/memory.db"
    assert told["ExecStart"][0].startswith("/opt/longmind/bin/longmind ")
    assert "/opt/longmind/bin/pip install" in PAGES["deploy.md"]
    sections = configparser.ConfigParser(strict=False, interpolation=None)
    sections.optionxform = str  # type: ignore[assignment,method-assign]
    sections.read(path)
    assert sections.sections() == ["Unit", "Service", "Install"]
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: systemd's own view of the unit is not tested")
    copy = tmp_path / path.name  # the program is not installed here
    copy.write_text(path.read_text("utf-8").replace("/opt/longmind/bin/longmind", shutil.which("true") or "/bin/true"))
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True)
    assert [line for line in checked.stderr.splitlines() if path.name in line] == []
