"""Evaluates an expression: Python's own parser reads its operators, and no Python code is ever run.

`expression_reader` writes the expression as one of Python's: of names, one for each value, and of signs, calls and
brackets. Python parses that into a tree, and the tree is walked; a node of any other kind is refused. Besides Python's
operators there are "^", "of" (15% of 240), "%" behind a number, and "to" or "in" before a unit (12 ft to m).
Length, depth, the number of values and the size of each are bounded, so that no expression takes long.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from iterative_rag.computing import unit_conversion
from iterative_rag.computing.arithmetic import add, divide, multiply, negated, power, related
from iterative_rag.computing.expression_reader import ExpressionReader, as_percent
from iterative_rag.computing.functions import called
from iterative_rag.computing.operands import Items, Measure, Value, said
from iterative_rag.computing.unit_conversion import Unit
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import MONTH_PATTERN
from iterative_rag.text.markdown_rows import is_rule, row_cells
from iterative_rag.text.patterns import lazy_pattern

MOST_ROWS = 1000
_FOOTNOTE = lazy_pattern(r"\s*\[\w{1,7}\]\s*$")
_OPENS_CELL = lazy_pattern(rf"[-−+$€£¥]?\s*\.?\d|(?:{MONTH_PATTERN})\b|AD\b", re.IGNORECASE)


def value_of(text: str) -> Value:
    """The value of an expression. Raises ComputeError."""
    reader = ExpressionReader(text)
    source = reader.python()
    try:
        return _value(ast.parse(source, mode="eval").body, reader.bound)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ComputeError(f"{text[:60]!r} cannot be read") from error


_OPERATORS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: add,
    ast.Sub: lambda first, second: add(first, second, -1),
    ast.Mult: multiply,
    ast.Div: divide,
    ast.Pow: power,
}
_RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=", ast.NotEq: "!=",
}  # fmt: skip


def _value(node: ast.expr, bound: Mapping[str, Value | Unit]) -> Value:
    def value(part: ast.expr) -> Value:
        return _value(part, bound)

    match node:
        case ast.Name(id=name) if name in bound and not isinstance(known := bound[name], Unit):
            return known
        case ast.BinOp():
            chain = []
            first: ast.expr = node
            while isinstance(first, ast.BinOp):  # a sum of many terms is a deep tree
                chain.append(first)
                first = first.left
            result = value(first)
            for operation in reversed(chain):
                if isinstance(operation.op, ast.BitOr):
                    result = _converted(result, _unit(operation.right, bound))
                else:
                    result = _OPERATORS[type(operation.op)](result, value(operation.right))
            return result
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return negated(value(operand))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return value(operand)
        case ast.Compare(left=left, ops=relations, comparators=others):
            compared = [value(part) for part in (left, *others)]
            signs = [_RELATIONS[type(relation)] for relation in relations]
            held = [related(*comparison) for comparison in zip(compared, signs, compared[1:], strict=False)]
            return all(held)
        case ast.Attribute(value=inner):
            return as_percent(value(inner))
        case ast.List(elts=items):
            return Items(tuple(map(value, items)))
        case ast.Dict(keys=labels, values=items):
            return Items(tuple(map(value, items)), tuple(said(value(label)) for label in labels if label))
        case ast.Call(func=ast.Name(id="convert"), args=[inner, wanted]):
            return _converted(value(inner), _unit(wanted, bound))
        case ast.Call(func=ast.Name(id="convert")):
            raise ComputeError("write a conversion as convert(12 ft, m)")
        case ast.Call(func=ast.Name(id="table"), args=arguments):
            return _column(*(said(value(argument)) for argument in arguments))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return called(name, [value(argument) for argument in arguments])
    raise ComputeError("this cannot be computed")


def _unit(node: ast.expr, bound: Mapping[str, Value | Unit]) -> Unit:
    unit = bound.get(node.id) if isinstance(node, ast.Name) else None
    if not isinstance(unit, Unit):
        raise ComputeError("write a conversion as convert(12 ft, m)")
    return unit


def _converted(value: Value, wanted: Unit) -> Value:
    if not isinstance(value, Measure):
        raise ComputeError(f"{said(value)} has no unit; write convert(12 ft, m)")
    return Measure(unit_conversion.converted(value.value, value.unit, wanted), wanted)


# --- tables --------------------------------------------------------------------------------------------


def _column(table: str = "", name: str = "", labels: str = "", *others: str) -> Items:
    """The cells of the column `name` of a Markdown table, labelled by those of `labels` ("" for the first column)."""
    if not name or others:
        raise ComputeError("write a column as table('| City | People |\\n| Orm | 900 |', 'People')")
    # In JSON, models often escape the line breaks twice.
    lines = table.replace("\\n", "\n").splitlines()
    rows = [[cell.text for cell in row_cells(line)] for line in lines if line.strip(" |") and not is_rule(line)]
    if not 2 <= len(rows) <= MOST_ROWS:
        raise ComputeError(f"a table needs a header row and 1 to {MOST_ROWS} more, each on its own line: | a | b |")
    head = [cell.casefold() for cell in rows[0]]
    places = []
    for wanted in (name, labels or rows[0][0]):
        if wanted.strip().casefold() not in head:
            raise ComputeError(f"there is no column {wanted!r}; there are {', '.join(rows[0])[:200]}")
        places.append(head.index(wanted.strip().casefold()))
    for row in rows[1:]:
        if len(row) <= max(places):
            raise ComputeError(f"the row | {' | '.join(row)[:80]} | has fewer cells than the header")
    return Items(tuple(_cell(row[places[0]]) for row in rows[1:]), tuple(row[places[1]] for row in rows[1:]))


def _cell(text: str) -> Value:
    """The value of a table cell: a number, measure or date if it is one, else its text."""
    bare = _FOOTNOTE.sub("", text)
    if not _OPENS_CELL.match(bare):
        return text
    try:
        return ExpressionReader(bare).literal()
    except ComputeError:
        return text
