"""A grid of runs from one TOML file, run one after the other, then compared.

    [base]                                  # for all runs: options of `evaluate run` (with _ for -) and settings
    dataset = "questions.jsonl"             # paths are relative to this file
    corpus = "pages"
    limit = 100
    max_hops = 6

    [axes]                                  # one run for every combination
    mode = ["naive", "iterative"]           # an option or a setting, with its values
    llm = ["builtin", "ollama/llama3.1:8b"]

    [axes.reading.narrow]                   # or named switches, each of which sets several
    shortlist = 4
    fact_limit = 2
    [axes.reading.wide]
    shortlist = 12
    fact_limit = 6

    [[skip]]                                # combinations to leave out
    mode = "naive"
    reading = "wide"

This makes six runs: `naive-builtin-narrow`, `naive-ollama-llama3.1-8b-narrow`, `iterative-builtin-narrow` and so on,
each in a folder of its name. A name that is both an option and a setting (`seed`, `corpus`) is the option;
`"settings.seed"` is the setting. Run it again to go on where it stopped, also with values added to an axis.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import logging
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from iterative_rag.errors import IterativeRAGError, MissingExtra, UsageError
from iterative_rag.evaluation.running.run_folder import RunFolder
from iterative_rag.system.files import readable

if TYPE_CHECKING:
    from iterative_rag.evaluation.running.preparation import RunConfig

_log = logging.getLogger(__name__)
_TABLES = ("base", "axes", "skip")
_PREFIX = "settings."
_LONGEST_NAME = 150  # characters: file systems allow 255 bytes
_PATHS = ("dataset", "redirects")


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of the grid. `options` and `settings` are what it is to be made with, `choices` what was chosen of
    each axis."""

    name: str
    choices: Mapping[str, str]
    options: Mapping[str, Any]
    settings: Mapping[str, Any]


Runner: TypeAlias = "Callable[[RunConfig, Path], RunFolder]"  # as run_evaluation.run


def run_matrix(
    cells: Sequence[Cell],
    out: Path,
    *,
    runner: Runner | None = None,
    started: Callable[[Cell], None] | None = None,
) -> tuple[dict[str, RunFolder], dict[str, dict[str, str]]]:
    """Run the cells into `out/NAME`, each resuming where it stopped. A failing cell is reported; the others run.

    Returns the runs and the failures (`kind`, `message` and `hint`) by the names of their cells, together all cells.
    """
    carry_out = runner or _run
    runs: dict[str, RunFolder] = {}
    failures: dict[str, dict[str, str]] = {}
    for cell in cells:
        if started is not None:
            started(cell)
        try:
            runs[cell.name] = carry_out(config_of(cell), out / cell.name)
        except MissingExtra:
            raise  # no other cell could run either
        except IterativeRAGError as error:
            failures[cell.name] = _failure(error, error.hint)
        except Exception as error:  # noqa: BLE001 - the boundary of a cell: a defect in one must not end the others
            _log.warning("The run %s ended with an unexpected error.", cell.name, exc_info=True)
            failures[cell.name] = _failure(error, "Run it alone with --debug.")
    return runs, failures


def _failure(error: Exception, hint: str) -> dict[str, str]:
    return {"kind": type(error).__name__, "message": str(error), "hint": hint}


def _run(config: RunConfig, out: Path) -> RunFolder:
    from iterative_rag.evaluation.running.run_evaluation import run

    return run(config, out)


def config_of(cell: Cell) -> RunConfig:
    """The run of a cell. Raises UsageError or SettingsError for a value that cannot be."""
    from pydantic import TypeAdapter, ValidationError

    from iterative_rag.evaluation.running.preparation import RunConfig
    from iterative_rag.settings import load_settings

    for needed in ("dataset", "corpus"):
        if needed not in cell.options:
            raise UsageError(f"The run {cell.name} has no {needed}.", hint=f'Add {needed} = "..." under [base].')
    for counted in ("limit", "sample", "repeat", "concurrency"):
        if cell.options.get(counted, 1) == 0:
            raise UsageError(f"The run {cell.name} cannot have {counted} = 0.", hint="Leave it out, or give 1 or more.")
    settings = load_settings(cell.settings, given_in=f"the run {cell.name}")
    options = {"mode": "iterative", **cell.options, "settings": settings}
    try:
        return TypeAdapter(RunConfig).validate_python(options)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"The run {cell.name} cannot have {key} = {cell.options.get(key)!r}: {first['msg']}.",
            hint="See: iterative-rag evaluate run --help",
        ) from error


# --- reading the file ------------------------------------------------------------------------


def read_matrix(path: Path) -> tuple[Cell, ...]:
    """The cells of the grid in `path`, the last axis changing fastest. Raises UsageError naming what is wrong."""
    try:
        content = tomllib.loads(readable(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"The matrix {path} cannot be read: {error}.", hint="Give a TOML file.") from error
    for key in content:
        if key not in _TABLES:
            raise UsageError(f"{path} has an unknown table {key!r}.", hint="Tables: [base], [axes], [[skip]]")
    base = _flat(content.get("base", {}), "[base]")
    axes = {name: _axis(name, values) for name, values in content.get("axes", {}).items()}
    skipped = [_skip(table, axes) for table in content.get("skip", [])]
    cells = []
    for chosen in itertools.product(*(choices.items() for choices in axes.values())):
        choices = {axis: label for axis, (label, _) in zip(axes, chosen, strict=True)}
        if any(skip.items() <= choices.items() for skip in skipped):
            continue
        values = dict(base)
        for _, switched in chosen:
            values |= switched
        cells.append(_cell(choices, values, path.parent))
    return _checked(cells, path)


def _axis(name: str, values: Any) -> dict[str, dict[str, Any]]:
    """What each choice of an axis sets, by its label."""
    match values:
        case dict() if values and all(isinstance(switches, dict) for switches in values.values()):
            return {str(label): _flat(switches, f"[axes.{name}.{label}]") for label, switches in values.items()}
        case list() if values:
            _known(name, f"[axes] {name}")
            return {_label(name, value): {name: value} for value in values}
    raise UsageError(
        f"The axis {name!r} has no choices.",
        hint=f'{name} = ["one", "other"], or named switches: [axes.{name}.one] and [axes.{name}.other]',
    )


def _label(name: str, value: Any) -> str:
    """The label of a value in names: words as they are, numbers and switches with their key."""
    match value:
        case bool():
            return name if value else f"no-{name}"
        case str() if value:
            return value
        case list():
            return "+".join(str(entry) for entry in value) or f"no-{name}"
    return f"{name}-{value}" if value != "" else f"no-{name}"


def _skip(wanted: Any, axes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The labels of a combination that is left out."""
    labels = {}
    for axis, value in wanted.items():
        label = value if isinstance(value, str) and value else _label(axis, value)
        if label not in axes.get(axis, {}):
            choices = ", ".join(axes[axis]) if axis in axes else "there is no such axis"
            raise UsageError(f"[[skip]] names {axis} = {value!r}, which no run has.", hint=f"{axis}: {choices}")
        labels[axis] = label
    return labels


def _flat(table: Any, where: str) -> dict[str, Any]:
    """A table of options and settings with `[... settings]` written as a prefix; unknown names are refused."""
    flat = {}
    for key, value in table.items():
        inner = {f"{_PREFIX}{name}": setting for name, setting in value.items()} if key == "settings" else {key: value}
        for name, setting in inner.items():
            _known(name, where)
            flat[name] = setting
    return flat


def _known(name: str, where: str) -> None:
    from iterative_rag.settings import Settings

    settings = set(Settings.model_fields)
    if name.removeprefix(_PREFIX) in settings if name.startswith(_PREFIX) else name in settings | _options():
        return
    near = difflib.get_close_matches(name.removeprefix(_PREFIX), sorted(settings | _options()), n=1, cutoff=0.0)
    raise UsageError(f"{where} has an unknown option or setting {name!r}.", hint=f"Did you mean {near[0]!r}?")


def _options() -> frozenset[str]:
    from iterative_rag.evaluation.running.preparation import RunConfig

    return frozenset(field.name for field in dataclasses.fields(RunConfig)) - {"settings"}


def _cell(choices: Mapping[str, str], values: Mapping[str, Any], folder: Path) -> Cell:
    options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    known = _options()
    for key, value in values.items():
        if key in known:
            options[key] = folder / value if key in _PATHS else value
        else:
            settings[key.removeprefix(_PREFIX)] = value
    return Cell(_name(choices.values()), choices, options, settings)


def _name(labels: Any) -> str:
    words = [re.sub(r"[^\w.+-]+", "-", label).strip("-.") for label in labels]
    return "-".join(word for word in words if word)[:_LONGEST_NAME] or "run"


def _checked(cells: Sequence[Cell], path: Path) -> tuple[Cell, ...]:
    """Check that names differ, ignoring case: they are folders."""
    names: dict[str, Cell] = {}
    for cell in cells:
        twin = names.setdefault(cell.name.casefold(), cell)
        if twin is not cell:
            raise UsageError(
                f"Two runs of {path} would be called {cell.name}: {dict(twin.choices)} and {dict(cell.choices)}.",
                hint="Give the choices names of their own: [axes.NAME.choice]",
            )
    if not cells:
        raise UsageError(f"{path} describes no run.", hint="[[skip]] excludes every combination.")
    return tuple(cells)
