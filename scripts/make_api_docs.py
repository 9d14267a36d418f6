"""Writes docs/api.md, the reference of the Python API, from the docstrings and signatures of the package.

    python -m scripts.make_api_docs            # writes the file
    python -m scripts.make_api_docs --check    # exit 1 if the file is out of date; writes nothing

The sources are parsed, not imported, so that the result does not depend on what is installed. Only the descriptions of
the settings are taken from the model: some of them list what the registry offers.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "api.md"
TYPES = "iterative_rag.types"
COMMAND = "python -m scripts.make_api_docs"

INTRODUCTION = f"""# Python API

<!-- Made by `{COMMAND}` from the docstrings. Change those, then run it again. -->

What a program may import, and what it may implement. Names below a heading are imported from the module that the
heading names. Lengths are in characters, durations in seconds, and offsets count characters of a document from 0,
unless a line says otherwise.

The terms are explained in [concepts.md](concepts.md); how to add an implementation is shown in
[extending.md](extending.md).
"""


@dataclass(frozen=True)
class Definition:
    """A name of a module: the statement that defines it, and the lines of the file that it stands in."""

    name: str
    node: ast.stmt
    lines: list[str]

    def source(self, node: ast.AST) -> str:
        """The lines of a statement as they were written, comments included."""
        assert isinstance(node, ast.stmt)
        return inspect.cleandoc("\n" + "\n".join(self.lines[node.lineno - 1 : node.end_lineno]))


# --- finding ---------------------------------------------------------------------------------


def module_file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def parsed(module: str) -> tuple[ast.Module, list[str]]:
    text = module_file(module).read_text(encoding="utf-8")
    return ast.parse(text), text.splitlines()


def find(module: str, name: str) -> Definition:
    """Where a name is defined, through any number of re-exports."""
    tree, lines = parsed(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            return find(node.module, name)
    for node in tree.body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() if node.name == name:
                return Definition(name, node, lines)
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                return Definition(name, node, lines)
    raise SystemExit(f"{module} does not define {name}.")


def exported(module: str) -> list[str]:
    """The names of `__all__`."""
    for node in parsed(module)[0].body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                return [str(name) for name in ast.literal_eval(node.value)]
    raise SystemExit(f"{module} has no __all__.")


def classes(module: str) -> list[str]:
    return [node.name for node in parsed(module)[0].body if isinstance(node, ast.ClassDef)]


def homes() -> dict[str, str]:
    """For each name that `iterative_rag` offers, the module that it is taken from."""
    for node in parsed("iterative_rag")[0].body:
        match node:
            case ast.Assign(targets=[ast.Name(id="_HOMES")]):
                return {name: f"iterative_rag.{home}" for name, home in ast.literal_eval(node.value).items()}
    raise SystemExit("iterative_rag/__init__.py has no table _HOMES.")


# --- writing ---------------------------------------------------------------------------------


def docstring(node: ast.AST) -> str:
    assert isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    return ast.get_docstring(node) or ""


def described(definition: Definition) -> str:
    match definition.node:
        case ast.ClassDef() as node:
            parts = [constructor(node), docstring(node), fields(definition, node), methods(node)]
            return "\n\n".join(filter(None, parts))
        case ast.FunctionDef() as node:
            return f"```python\n{signature(node)}\n```\n\n{docstring(node)}"
        case node:
            return f"```python\n{definition.source(node)}\n```"


def fields(definition: Definition, node: ast.ClassDef) -> str:
    """The fields as they were written; those of a pydantic model as a table, because their descriptions are long."""
    public = [
        one
        for one in node.body
        if isinstance(one, ast.AnnAssign | ast.Assign)
        and isinstance(target := one.target if isinstance(one, ast.AnnAssign) else one.targets[0], ast.Name)
        and not target.id.startswith("_")
        and target.id != "model_config"
    ]
    if not public:
        return ""
    if rows := [row for one in public if (row := described_field(one))]:
        return "\n".join(["| field | type | default | |", "|---|---|---|---|", *rows])
    return "```python\n" + "\n".join(definition.source(one) for one in public) + "\n```"


def described_field(node: ast.stmt) -> str:
    """`name: type = Field(default, description=...)` as a row of a table; "" for any other statement."""
    match node:
        case ast.AnnAssign(
            target=ast.Name(id=name), value=ast.Call(func=ast.Name(id="Field"), args=[default, *_], keywords=keywords)
        ):
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in keywords}
            bounds = [f"{sign} {given[key]}" for key, sign in SIGNS.items() if key in given]
            text = Settings.model_fields[name].description or ""
            cells = [f"`{ast.unparse(one)}`" for one in (node.target, plain(node.annotation), default)]
            sentence = f"{text} ({', '.join(bounds)})" if bounds else text
            return f"| {' | '.join(cells)} | {sentence} |"
    return ""


def plain(annotation: ast.expr) -> ast.expr:
    """`str` for `Annotated[str, ...]`: what checks a value is named in its description."""
    match annotation:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[inner, *_])):
            return inner
    return annotation


SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def constructor(node: ast.ClassDef) -> str:
    """How an object is made, where the class says so itself; the fields of a dataclass say it otherwise."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return f"```python\n{signature(one).replace('__init__', node.name, 1).removesuffix(' -> None')}\n```"
    return ""


def methods(node: ast.ClassDef) -> str:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    shown = [one for one in node.body if isinstance(one, kinds) and not one.name.startswith("_")]
    return "\n".join(method(one) for one in shown).rstrip()


def method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """One item of a list: the signature, and below it the docstring, indented so that it stays in the item."""
    decorators = {ast.unparse(one) for one in node.decorator_list}
    if "property" in decorators:
        head = f"- `{node.name}: {ast.unparse(node.returns) if node.returns else 'Any'}` (property)"
    else:
        kind = "classmethod " if "classmethod" in decorators else ""
        kind += "async " if isinstance(node, ast.AsyncFunctionDef) else ""
        head = f"- `{kind}{signature(node)}`"
    text = docstring(node)
    return head + ("\n\n  " + text.replace("\n", "\n  ").replace("\n  \n", "\n\n") + "\n" if text else "")


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """`name(arguments) -> result`, without `self`."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    shown = [argument(one, default) for one, default in zip(positional, defaults, strict=True)]
    shown = [one for one in shown if one.split(":")[0] not in ("self", "cls")]
    if given.vararg or given.kwonlyargs:
        shown.append("*" + (argument(given.vararg) if given.vararg else ""))
    shown += [argument(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    shown += ["**" + argument(given.kwarg)] if given.kwarg else []
    return f"{node.name}({', '.join(shown)})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def argument(node: ast.arg, default: ast.expr | None = None) -> str:
    annotated = node.arg + (f": {ast.unparse(node.annotation)}" if node.annotation else "")
    return annotated if default is None else f"{annotated} = {ast.unparse(default)}"


# --- the document ----------------------------------------------------------------------------


def reference() -> str:
    """The whole document."""
    sections = [
        front_door(),
        types(),
        f"## `iterative_rag.errors`\n\n```text\n{docstring(parsed('iterative_rag.errors')[0])}\n```",
        section("iterative_rag.protocols", classes("iterative_rag.protocols")),
        llama_index(),
    ]
    return "\n\n".join([INTRODUCTION.strip(), *sections]) + "\n"


def front_door() -> str:
    """What `iterative_rag` itself offers; the types among it are described with the other types."""
    where = homes()
    names = [name for name in exported("iterative_rag") if name in where]
    elsewhere = [f"`{name}`" for name in names if where[name] == TYPES]
    described_here = [entries(where[name], [name]) for name in names if where[name] != TYPES]
    version = "### \\_\\_version\\_\\_\n\nThe version that is installed, as a string."
    also = textwrap.fill(f"Also importable from here, and described below: {', '.join(elsewhere)}.", 118)
    return "\n\n".join(["## `iterative_rag`", also, *described_here, version])


def types() -> str:
    """Every type, file by file, in the order in which the docstring of the package names the files."""
    text = docstring(parsed(TYPES)[0])
    files: dict[str, list[str]] = {}
    for node in parsed(TYPES)[0].body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(TYPES):
            files[node.module] = [alias.name for alias in node.names]
    order = sorted(files, key=lambda module: text.rfind(module.rpartition(".")[2]))
    parts = [f"*{docstring(parsed(module)[0])}*\n\n{entries(module, files[module])}" for module in order]
    return "\n\n".join([f"## `{TYPES}`", text, *parts])


def section(module: str, names: list[str]) -> str:
    return "\n\n".join([f"## `{module}`", docstring(parsed(module)[0]), entries(module, names)])


def llama_index() -> str:
    """The names are described file by file."""
    module = "iterative_rag.integrations.llama_index"
    names = exported(module)
    here = {one.name for one in parsed(module)[0].body if isinstance(one, ast.ClassDef | ast.FunctionDef)}
    parts = [entries(module, [name for name in names if (name in here) is own]) for own in (True, False)]
    return "\n\n".join([f"## `{module}`", docstring(parsed(module)[0]), *parts])


def entries(module: str, names: list[str]) -> str:
    """Descriptions in the order of the file."""
    found = sorted((find(module, name) for name in names), key=lambda definition: definition.node.lineno)
    return "\n\n".join(f"### {definition.name}\n\n{described(definition)}" for definition in found)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write docs/api.md from the docstrings.")
    parser.add_argument("--check", action="store_true", help="only say whether docs/api.md is up to date")
    text = reference()
    if not parser.parse_args().check:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != text:
        print(f"docs/api.md is out of date. Run: {COMMAND}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
