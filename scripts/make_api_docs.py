"""Writes docs/api.md, the reference of the Python API, from the docstrings and signatures of the package.

    python -m scripts.make_api_docs [FILE]

CI builds it; it is not committed.
"""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path

from pydantic import BaseModel

TARGET = Path(__file__).resolve().parent.parent / "docs" / "api.md"
INTRODUCTION = """# Python API

<!-- Made by `python -m scripts.make_api_docs` from the docstrings. Change those, then run it again. -->

What a program may import, and what it may implement. Names below a heading are imported from the module that the
heading names. Lengths are in characters, durations in seconds, and offsets count characters of a document from 0,
unless a line says otherwise.

The terms are explained in [concepts.md](concepts.md); how to add an implementation is shown in
[extending.md](extending.md)."""
# A name is described where it comes first.
MODULES = ("iterative_rag.types", "iterative_rag.protocols", "iterative_rag", "iterative_rag.integrations.llama_index")


def reference() -> str:
    parts, known = [INTRODUCTION], set[str]()
    for module in MODULES:
        names = public(module)
        parts.append(f"## `{module}`\n\n{inspect.getdoc(import_module(module)) or ''}")
        if again := [f"`{name}`" for name in names if name in known]:
            parts.append(textwrap.fill(f"Also importable from here, and described above: {', '.join(again)}.", 118))
        parts += [f"### {name}\n\n{described(value)}" for name, value in names.items() if name not in known]
        known |= names.keys()
    errors = inspect.getdoc(import_module("iterative_rag.errors"))
    return "\n\n".join([*parts, f"## `iterative_rag.errors`\n\n```text\n{errors}\n```"]) + "\n"


def public(module: str) -> dict[str, object]:
    """The names of `__all__`; without one what a package imports, and the classes that a module defines."""
    found = import_module(module)
    if hasattr(found, "__path__"):
        own = [name for name, value in vars(found).items() if not inspect.ismodule(value)]
    else:
        own = [name for name, value in vars(found).items() if inspect.isclass(value) and value.__module__ == module]
    return {name: getattr(found, name) for name in getattr(found, "__all__", own) if not name.startswith("_")}


def described(value: object) -> str:
    if inspect.isclass(value):
        own_init = "__init__" in vars(value) and not is_dataclass(value) and not issubclass(value, BaseModel)
        head = f"```python\n{value.__name__}{signature(value.__init__)}\n```" if own_init else ""
        return "\n\n".join(filter(None, [head, vars(value).get("__doc__") and inspect.getdoc(value), *members(value)]))
    if inspect.isfunction(value):
        return f"```python\n{value.__name__}{signature(value)}\n```\n\n{inspect.getdoc(value)}"
    return f"```python\n{re.sub(r'[a-z_]+[.]', '', str(value))}\n```"


def members(value: type) -> Iterator[str]:
    """Fields (those of a pydantic model as a table, because their descriptions are long), then methods."""
    if issubclass(value, BaseModel):
        settings = value.model_fields.items()
        rows = [f"| `{name}` | `{one.default!r}` | {one.description or ''} |" for name, one in settings]
        yield "\n".join(["| field | default | |", "|---|---|---|", *rows])
    elif is_dataclass(value):
        given = {one.name: "" if one.default is MISSING else f" = {one.default!r}" for one in fields(value)}
        lines = [f"{one.name}: {one.type}{given[one.name]}" for one in fields(value) if one.name[0] != "_"]
        yield "\n".join(["```python", *lines, "```"])
    elif issubclass(value, str):
        yield ", ".join(f"`{one}`" for one in value.__members__.values())  # type: ignore[attr-defined]
    for name, member in vars(value).items():
        target = getattr(member, "__func__", member)
        if name.startswith("_") or not (isinstance(target, property) or inspect.isfunction(target)):
            continue
        kind = "classmethod " if isinstance(member, classmethod) else ""
        text = textwrap.indent(inspect.getdoc(target) or "", "  ")
        if isinstance(target, property):
            yield f"- `{name}: {target.fget.__annotations__.get('return')}` (property)\n\n{text}"
        else:
            yield f"- `{kind}{name}{signature(target)}`\n\n{text}"


def signature(function: object) -> str:
    """`(arguments) -> result`, without `self`."""
    assert callable(function)
    whole = inspect.signature(function)
    kept = [one for name, one in whole.parameters.items() if name not in ("self", "cls")]
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(whole.replace(parameters=kept))).removesuffix(" -> None")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m scripts.make_api_docs", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=TARGET, help="default: docs/api.md")
    parser.parse_args().file.write_text(reference(), encoding="utf-8")
