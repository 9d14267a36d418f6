"""The Dockerfile and compose.yaml name files, extras, options and settings that exist. No image is built here."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakes.command_line import run_as_process
from fakes.running_server import TOKEN, running_server

ROOT = Path(__file__).resolve().parents[1]


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def arguments_of(name: str) -> list[str]:
    return [rest for one, rest in instructions() if one == name]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8")))


def test_every_file_that_is_copied_is_there_and_sent_to_the_builder() -> None:
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [name for rest in arguments_of("COPY") if "--from=" not in rest for name in rest.split()[:-1]]
    assert {"pyproject.toml", "iterative_rag", "input_wikipedia"} <= set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in kept, name
    assert kept[0] == "*"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["readme"] in copied
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]) <= set(copied)


def test_every_extra_that_is_installed_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [installed] = re.findall(r"'\.\[([a-z,-]+)\]'", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert set(installed.split(",")) <= set(project["project"]["optional-dependencies"])
    assert {"serve", "qdrant"} <= set(installed.split(","))


def test_it_runs_without_rights_and_keeps_its_data_in_the_volume() -> None:
    variables = dict(one.split("=", 1) for rest in arguments_of("ENV") for one in shlex.split(rest))
    assert arguments_of("USER") == ["10001:10001"]
    assert arguments_of("VOLUME") == ["/data"] == [variables["ITERATIVE_RAG_HOME"]]
    assert variables["HOME"] == "/data"
    assert not [name for name in variables if "TOKEN" in name or "KEY" in name]


def test_the_command_has_the_options_that_it_is_given() -> None:
    command = [*json.loads(arguments_of("ENTRYPOINT")[0]), *json.loads(arguments_of("CMD")[0])]
    assert command[:2] == ["iterative-rag", "serve"]
    assert run_as_process(*command[1:], "--help").code == 0


def test_the_health_check_tells_a_server_that_answers_from_one_that_does_not(tmp_path: Path) -> None:
    [check] = arguments_of("HEALTHCHECK")
    _, flag, code = json.loads(check[check.index("[") :])
    assert flag == "-c"
    assert arguments_of("EXPOSE") == ["8372"]
    with running_server(tmp_path, token=TOKEN) as server:
        here = code.replace("127.0.0.1:8372", f"127.0.0.1:{server.port}")
        assert subprocess.run([sys.executable, "-c", here], check=False).returncode == 0
    gone = subprocess.run([sys.executable, "-c", here], capture_output=True, check=False)
    assert gone.returncode != 0


def test_compose_opens_ports_on_this_machine_alone_and_asks_for_a_token(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"iterative-rag", "ollama", "qdrant"}
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service["ports"])
    own = services["iterative-rag"]
    assert own["read_only"] is True
    assert own["cap_drop"] == ["ALL"]
    assert own["environment"]["ITERATIVE_RAG_TOKEN"].startswith("${ITERATIVE_RAG_TOKEN:?")
    for name, service in services.items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert re.fullmatch(r"[\w/]+:v?\d[\w.]+", service.get("image", "own:1.0")), name
        volumes = {volume.split(":")[0] for volume in service["volumes"]}
        assert volumes <= set(compose["volumes"])
