"""The documents agree with the code: the API reference can be built, links lead somewhere, what is named is there."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import iterative_rag
from iterative_rag import protocols
from iterative_rag.registry import STRATEGIES
from tests.test_architecture import LAYERS

ROOT = Path(__file__).parent.parent


def protocol_classes() -> dict[str, type]:
    return {name: value for name, value in vars(protocols).items() if getattr(value, "_is_protocol", False)}


def test_the_api_reference_that_is_built_describes_every_public_name(tmp_path: Path) -> None:
    built = tmp_path / "api.md"
    subprocess.run([sys.executable, "-m", "scripts.make_api_docs", str(built)], cwd=ROOT, check=True)
    names = {name for name in iterative_rag.__all__ if not name.startswith("_")}
    names |= protocol_classes().keys()
    described = {
        line.removeprefix("### ") for line in built.read_text(encoding="utf-8").splitlines() if line.startswith("### ")
    }
    assert names <= described


def test_every_protocol_says_what_it_is_for() -> None:
    assert len(protocol_classes()) >= 20
    for name, protocol in protocol_classes().items():
        assert protocol.__doc__, name
        for member, value in vars(protocol).items():
            if not member.startswith("_"):
                assert (value.fget if isinstance(value, property) else value).__doc__, f"{name}.{member}"


# --- links and names -------------------------------------------------------------------------

PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "evaluation/README.md")),
]
PACKAGE = ROOT / "iterative_rag"
FOLDERS = ("iterative_rag/", "docs/", "scripts/", "tests/", "evaluation/", "input_wikipedia/")


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower().replace("\\", "")).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists() or there == ROOT / "docs" / "api.md", f"{page.name} links to {target}"  # CI builds that
        assert not anchor or anchor in anchors(there), f"{there.name} has no heading for {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_and_module_that_is_named_is_there(page: Path) -> None:
    """A path is one from the root or from the package; a name alone is that of a file anywhere in the package."""
    files = {path.name for path in PACKAGE.rglob("*")}
    kept_out = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()  # what users put there themselves
    for code in re.findall(r"`([^`\n]+)`", prose(page)):
        name = code.split(" ")[0].rstrip(":")
        if re.fullmatch(r"iterative_rag(\.\w+)+", name):
            assert pkgutil.resolve_name(name), f"{page.name} names {name}"
        elif "/" in name and (name.startswith(FOLDERS) or re.fullmatch(r"[\w*/.]+(\.py|/)", name)):
            found = [*ROOT.glob(name), *PACKAGE.glob(name), *page.parent.glob(name)]
            assert found or name in kept_out, f"{page.name} names {name}"
        elif re.fullmatch(r"\w+\.py", name):
            assert name in files, f"{page.name} names {name}"


def test_every_strategy_is_described() -> None:
    text = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    for entry in STRATEGIES:
        assert (f"\n`{entry.name}`" if entry.measured_only else f"\n| `{entry.name}`") in text


def test_every_page_stands_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        if page.name == "api.md":  # built, where somebody wanted it
            continue
        assert page.name == "index.md" or f"]({page.name})" in index, f"docs/index.md leaves out {page.name}"


def test_the_architecture_shows_every_folder_and_the_floors_that_are_enforced() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = re.search(r"^```\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert picture
    floors = [set(re.split(r"\s{3,}", line)[0].split()) for line in picture[1].splitlines()]
    assert floors == [set(floor) for floor in reversed(LAYERS) if floor != {"__main__"}]
    for path in PACKAGE.iterdir():
        named = f"{path.name}/" if (path / "__init__.py").is_file() else path.name
        if named.endswith((".py", "/")) and not named.startswith("__"):
            assert f"| `{named}` |" in text, f"docs/architecture.md leaves out {named}"
