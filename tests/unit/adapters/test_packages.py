"""Every adapter has an extra, pins and a page, and says what to install where its framework is missing."""

import importlib
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from longmind.adapters.packages import framework
from longmind.errors import PackageMissing
from tools.adapters import ROOT, adapters, count_suites, page, pinned_versions, stored_results

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
MODULES = sorted(
    path.stem for path in (ROOT / "src/longmind/adapters").glob("*.py") if "with framework(" in path.read_text("utf-8")
)


def test_a_missing_package_names_the_extra() -> None:
    with pytest.raises(PackageMissing, match=r'pip install "longmind\[langgraph\]"') as raised, framework("langgraph"):
        importlib.import_module("no_such_package_at_all.part")
    assert isinstance(raised.value, ImportError)
    assert raised.value.as_dict()["error"] == "package_missing"
    assert "no_such_package_at_all.part" not in raised.value.message


@pytest.mark.parametrize("module", MODULES)
def test_an_adapter_without_its_framework_says_what_to_install(module: str) -> None:
    """In another process, with every module hidden that is not Longmind's own or in the base install."""
    hidden = "agents|autogen_core|agent_framework|google|langgraph|llama_index|crewai|anthropic|pydantic_ai|strands"
    program = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden.split("|")!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
from longmind.errors import PackageMissing
try:
    import longmind.adapters.{module}
except PackageMissing as error:
    print(error.details["extra"], error.hint)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    extra, _, hint = done.stdout.strip().partition(" ")
    assert extra in EXTRAS
    assert hint == f'pip install "longmind[{extra}]"'


@pytest.mark.parametrize("name", adapters())
def test_the_extra_asks_for_no_newer_package_than_was_tested(name: str) -> None:
    from packaging.requirements import Requirement

    versions = pinned_versions(name)
    for requirement in map(Requirement, EXTRAS.get(name, ())):
        assert versions[requirement.name] in requirement.specifier


def test_the_lock_leaves_the_adapters_out_and_nothing_else() -> None:
    locked = re.search(r"^LOCKED := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert locked
    unpublished = {"models"}  # a distribution of this repository, which no index has
    assert set(locked[1].split()) == set(EXTRAS) - set(adapters()) - unpublished


def test_frameworks_are_not_in_the_lock() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert [name for name in adapters() for package in pinned_versions(name) if f"\n{package}==" in lock] == []


def test_importing_the_package_loads_no_adapter() -> None:
    program = "import sys, longmind; print([name for name in sys.modules if name.startswith('longmind.adapters')])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_suites_are_counted_by_their_properties_and_else_by_test() -> None:
    from xml.etree import ElementTree

    report = ElementTree.fromstring(
        """<s><testcase/><testcase><skipped/></testcase><testcase><failure/></testcase>
        <testcase><properties><property name="suite" value="theirs"/><property name="passed" value="58"/>
        <property name="not_applicable" value="2"/></properties></testcase></s>"""
    )
    assert count_suites(list(report.iter("testcase"))) == {
        "tests of ours": {"passed": 1, "failed": 1, "not applicable": 1},
        "theirs": {"passed": 58, "failed": 0, "not applicable": 2},
    }


def test_the_page_of_results_is_that_of_the_stored_results() -> None:
    assert Path(ROOT, "docs/reference/adapters.md").read_text("utf-8") == page(stored_results())


def test_results_are_of_the_pinned_versions_and_nothing_failed() -> None:
    for result in stored_results():
        assert result["versions"] == pinned_versions(result["adapter"])
        assert all(counts["failed"] == 0 for counts in result["suites"].values())


def test_the_frameworks_are_not_in_this_environment() -> None:
    assert find_spec("longmind") is not None
    assert [name for name in ("langgraph", "agents", "autogen_core", "llama_index") if find_spec(name)] == []
