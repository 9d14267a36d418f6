"""A grid of runs from one TOML file, run one after the other, then compared.

    [base]                                  # for all runs: options of `evaluate run` (with _ for -) and settings
    dataset = "questions.jsonl"             # paths are relative to this file
    corpus = "pages"
    limit = 100
    max_hops = 6

    [axes]                                  # one run for every combination
    mode = ["naive", "iterative"]           # an option or a setting, with its values

    [axes.reading.narrow]                   # or named switches, each of which sets several
    shortlist = 4
    fact_limit = 2
    [axes.reading.wide]
    shortlist = 12
    fact_limit = 6

This makes four runs: `naive-narrow`, `naive-wide`, `iterative-narrow` and `iterative-wide`, each in a folder of its
name. Run it again to go on where it stopped, also with values added to an axis.
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from iterative_rag.errors import IterativeRAGError, MissingExtra, UsageError
from iterative_rag.evaluation.run_folder import RunFolder
from iterative_rag.system.files import readable

if TYPE_CHECKING:
    from iterative_rag.evaluation.preparation import RunConfig

_log = logging.getLogger(__name__)
_LONGEST_NAME = 150  # characters: file systems allow 255 bytes


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of the grid: what was chosen of each axis, and the options and settings that it is to be made with."""

    name: str
    choices: Mapping[str, str]
    values: Mapping[str, Any]


Runner: TypeAlias = "Callable[[RunConfig, Path], RunFolder]"  # as run_evaluation.run


def run_matrix(
    cells: Sequence[Cell], out: Path, *, runner: Runner, started: Callable[[Cell], None] | None = None
) -> tuple[dict[str, RunFolder], dict[str, dict[str, str]]]:
    """Run the cells into `out/NAME`, each resuming where it stopped. A failing cell is reported; the others run.

    Returns the runs and the failures (`kind`, `message` and `hint`) by the names of their cells, together all cells.
    """
    runs: dict[str, RunFolder] = {}
    failures: dict[str, dict[str, str]] = {}
    for cell in cells:
        if started is not None:
            started(cell)
        try:
            runs[cell.name] = runner(config_of(cell), out / cell.name)
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


def config_of(cell: Cell) -> RunConfig:
    """The run of a cell. Raises UsageError or SettingsError for a value that cannot be."""
    from pydantic import TypeAdapter, ValidationError

    from iterative_rag.evaluation.preparation import RunConfig
    from iterative_rag.settings.model import complaint, load_settings

    options = {"mode": "iterative"} | {name: cell.values[name] for name in _options() & cell.values.keys()}
    given = {name: value for name, value in cell.values.items() if name not in options}
    options["settings"] = load_settings(given, given_in=f"the run {cell.name}")
    try:
        return TypeAdapter(RunConfig).validate_python(options)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        raise UsageError(
            f"The run {cell.name} cannot have {key} = {cell.values.get(key)!r}: {complaint(first)}.",
            hint="See: iterative-rag evaluate run --help",
        ) from error


# --- reading the file ------------------------------------------------------------------------


def read_matrix(path: Path) -> tuple[Cell, ...]:
    """The cells of the grid in `path`, the last axis changing fastest. Raises UsageError naming what is wrong."""
    try:
        content = tomllib.loads(readable(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"The matrix {path} cannot be read: {error}.", hint="Give a TOML file.") from error
    if unknown := content.keys() - {"base", "axes"}:
        raise UsageError(f"{path} has an unknown table {min(unknown)!r}.", hint="Tables: [base] and [axes]")
    axes = {name: _axis(name, values) for name, values in content.get("axes", {}).items()}
    cells: dict[str, Cell] = {}
    for chosen in itertools.product(*(choices.items() for choices in axes.values())):
        values = dict(content.get("base", {}))
        for _, switched in chosen:
            values |= switched
        labels = [label for label, _ in chosen]
        cell = Cell(_name(labels), dict(zip(axes, labels, strict=True)), _checked(values, path))
        twin = cells.setdefault(cell.name.casefold(), cell)  # names are folders
        if twin is not cell:
            raise UsageError(
                f"Two runs of {path} would be called {cell.name}: {dict(twin.choices)} and {dict(cell.choices)}.",
                hint="Give the choices names of their own: [axes.NAME.choice]",
            )
    return tuple(cells.values())


def _axis(name: str, values: Any) -> dict[str, dict[str, Any]]:
    """What each choice of an axis sets, by its label."""
    match values:
        case dict() if values and all(isinstance(switches, dict) for switches in values.values()):
            return dict(values)
        case list() if values:
            return {_label(name, value): {name: value} for value in values}
    raise UsageError(
        f"The axis {name!r} has no choices.",
        hint=f'{name} = ["one", "other"], or named switches: [axes.{name}.one] and [axes.{name}.other]',
    )


def _label(name: str, value: Any) -> str:
    """The label of a value in names: words as they are, numbers and switches with their key."""
    match value:
        case True:
            return name
        case False | "" | []:
            return f"no-{name}"
        case str():
            return value
        case list():
            return "+".join(str(entry) for entry in value)
    return f"{name}-{value}"


def _name(labels: Sequence[str]) -> str:
    words = [re.sub(r"[^\w.+-]+", "-", label).strip("-.") for label in labels]
    return "-".join(word for word in words if word)[:_LONGEST_NAME] or "run"


def _options() -> set[str]:
    from iterative_rag.evaluation.preparation import RunConfig

    return {field.name for field in dataclasses.fields(RunConfig)} - {"settings"}


def _checked(values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The values of a run with its paths made absolute; unknown names and a missing dataset or corpus are refused."""
    from iterative_rag.settings import Settings

    if unknown := sorted(values.keys() - _options() - Settings.model_fields.keys()):
        raise UsageError(
            f"{path} has an unknown option or setting {unknown[0]!r}.",
            hint="See: iterative-rag evaluate run --help",
        )
    for needed in ("dataset", "corpus"):
        if needed not in values:
            raise UsageError(f"{path} has a run without {needed}.", hint=f'Add {needed} = "..." under [base].')
    return {name: path.parent / value if name == "dataset" else value for name, value in values.items()}
