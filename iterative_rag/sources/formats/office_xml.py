"""What files of office programs share: parts with their relations, formulas, charts, diagrams; texts as HTML."""

from __future__ import annotations

import contextlib
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats import html
from iterative_rag.sources.formats.cells import number_as_shown
from iterative_rag.sources.formats.format import ALT_WORDS, plain
from iterative_rag.sources.metadata import not_read
from iterative_rag.types import Document

_SCRIPTS = (("sub", "_"), ("sup", "^"))
_TITLE_WITHIN = 5  # paragraphs: a heading after fewer of them is the title
_ONE_TERM = re.compile(r"[^\s+\-−±=<>/,;]*")


def local(element: Any) -> str:
    """The name of an element without its namespace; "" for a comment or an instruction."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def within(element: Any, *names: str) -> Iterator[Any]:
    """The elements of these names within another, in the order of the document."""
    yield from element.iter(*(f"{{*}}{name}" for name in names))


def attribute(element: Any, name: str, default: str = "") -> str:
    """An attribute by its name without the namespace."""
    return next((held for key, held in element.items() if key.rpartition("}")[2] == name), default)


def whole(told: str, default: int = 1, *, most: int = 10**9) -> int:
    """A count as an attribute states it, never more than `most`; `default` where it states none."""
    # Longer ones are no counts, and Python refuses to convert them.
    return min(int(told[:9]), most) if told.isdecimal() else default


def first(root: Any, name: str) -> Any:
    """The first element of this name. Raises KeyError if there is none."""
    element = next(within(root, name), None)
    if element is None:
        raise KeyError(name)
    return element


def value(element: Any, *path: str) -> str:
    """The attribute `val` of the element at a path, else ""; on and off are "1" and "0"."""
    for name in path:
        element = element.find(f"{{*}}{name}") if element is not None else None
    if element is None:
        return ""
    told = attribute(element, "val", "1")
    return {"true": "1", "on": "1", "false": "0", "off": "0"}.get(told, told)


def tree(archive: zipfile.ZipFile, part: str) -> Any:
    """The root of a part. Raises KeyError, or a SyntaxError of the parser."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(archive.read(part), parser)


def replace(element: Any, *by: Any) -> None:
    parent = element.getparent()
    index = parent.index(element)
    parent[index : index + 1] = by


def choose_alternatives(root: Any) -> None:
    """Keep what has text of the alternatives for newer and older programs, which tell the same."""
    for block in [*within(root, "AlternateContent")]:
        replace(block, *next((part for part in block if "".join(part.itertext()).strip()), block[:1] and block[0]))


def relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The kind ("chart", "footnotes") and the part of each relation of a part, by its id; "" is the whole file."""
    folder, _, name = part.rpartition("/")
    path = f"{folder}/_rels/{name}.rels".lstrip("/")
    if path not in archive.namelist():
        return {}
    held: dict[str, tuple[str, str]] = {}
    for relation in within(tree(archive, path), "Relationship"):
        if relation.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", ""))).lstrip("/")
            held[relation.get("Id", "")] = relation.get("Type", "").rpartition("/")[2], target
    return held


def opener(archive: zipfile.ZipFile, part: str) -> Callable[[str], Any]:
    """What gives the root of the part that a relation of a part leads to, by its id; None for none."""
    held = relations(archive, part)
    return lambda relation: tree(archive, held[relation][1]) if relation in held else None


def relation_id(element: Any) -> str:
    """The id of the relation that an element refers to; "" for none."""
    return next((held for key, held in element.items() if key.endswith(("}id", "}embed", "}dm"))), "")


def main_part(archive: zipfile.ZipFile) -> str:
    """The part that holds the document itself. Raises KeyError if there is none."""
    return dict(relations(archive, "").values())["officeDocument"]


def related(archive: zipfile.ZipFile, part: str, *kinds: str) -> list[Any]:
    """The roots of the parts that a part refers to as one of these kinds."""
    parts = dict.fromkeys(target for kind, target in relations(archive, part).values() if kind in kinds)
    return [tree(archive, target) for target in parts if target in archive.namelist()]


def core_title(archive: zipfile.ZipFile) -> str:
    """The title that a file states about itself, on one line."""
    return title_in(related(archive, "", "core-properties"))


def title_in(roots: Iterable[Any]) -> str:
    titles = (title.text or "" for root in roots for title in within(root, "title"))
    return " ".join(plain(next(titles, "")).split())[:300]


def formula(node: Any) -> str:
    """A formula of Office as one line of text: "q=8M/L^2"."""
    name = local(node)
    if name in ("t", "delText"):
        return plain(node.text or "")
    if name.endswith("Pr"):
        return ""
    told = [(local(child), formula(child)) for child in node]
    parts = dict(told)
    base = parts.get("e", "")
    low, high = (sign + _one_term(parts[kind]) if parts.get(kind) else "" for kind, sign in _SCRIPTS)
    match name:
        case "f":
            return f"{_one_term(parts.get('num', ''))}/{_one_term(parts.get('den', ''))}"
        case "rad":
            return f"{_one_term(parts.get('deg', ''))}√{_one_term(base)}"
        case "nary":
            return f"{value(node, 'naryPr', 'chr') or '∫'}{low}{high} {base}"
        case "sSub" | "sSup" | "sSubSup" | "sPre":
            return base + low + high
        case "limLow" | "limUpp":
            return f"{base}_{_one_term(parts.get('lim', ''))}"
        case "func":
            return f"{parts.get('fName', '')} {base}"
        case "d":
            signs = {sign: value(node, "dPr", sign) for sign in ("begChr", "sepChr", "endChr")}
            within_signs = (signs["sepChr"] or "|").join(text for kind, text in told if kind == "e")
            return f"{signs['begChr'] or '('}{within_signs}{signs['endChr'] or ')'}"
        case "m" | "eqArr":
            return "; ".join(text for _, text in told if text)
        case "mr":
            return ", ".join(text for _, text in told)
    return "".join(text for _, text in told)


def _one_term(text: str) -> str:
    return text if _ONE_TERM.fullmatch(text) else f"({text})"


def chart(root: Any) -> list[list[str]]:
    """The data of a chart as a table, a column for each series; its titles head the first. One row: it has no data."""
    titles = ("".join(text.text or "" for text in within(title, "t", "v")) for title in within(root, "title"))
    series = [
        (
            " ".join(_points(data.find("{*}tx")).values()),
            _points(next((axis for name in ("cat", "xVal") if (axis := data.find(f"{{*}}{name}")) is not None), None)),
            [held for name in ("val", "yVal", "bubbleSize") if (held := _points(data.find(f"{{*}}{name}")))],
        )
        for data in within(root, "ser")
    ]
    columns = [(name, values) for name, _, several in series for values in several]
    labels = next((labels for _, labels, _ in series if labels), {})
    places = sorted({*labels, *(at for _, values in columns for at in values)}) if columns else []
    rows = [[labels.get(at, str(at + 1)), *(values.get(at, "") for _, values in columns)] for at in places]
    return [["; ".join(filter(None, map(str.strip, titles))), *(name for name, _ in columns)], *rows]


def drawn(element: Any, part: Callable[[str], Any], kinds: Counter[str]) -> Iterator[list[list[str]]]:
    """What the charts, diagrams and pictures in an element say, each as rows of cells; counts what has no text. `part`
    gives the root of the part that the id of a relation leads to, None where there is none."""
    for graphic in within(element, "chart", "relIds"):
        root = part(relation_id(graphic))
        root = graphic if root is None else root
        if local(graphic) == "relIds":  # a diagram (SmartArt), whose texts stand in the order of its data
            points = (" ".join(text.text or "" for text in within(point, "t")) for point in within(root, "pt"))
            yield from ([[" ".join(text.split())]] for text in points if text.strip())
            continue
        rows = chart(root)
        # Without values of its own a chart of a sheet shows those of its cells.
        kinds["charts without text"] += len(rows) == 1 and next(within(root, "f"), None) is None
        yield rows
    # What is said of pictures to those who do not see them; fewer words name an icon.
    texts = (" ".join(plain(picture.get("descr", "")).split()) for picture in within(element, "docPr", "cNvPr"))
    yield from ([[text]] for text in dict.fromkeys(texts) if len(text.split()) >= ALT_WORDS)
    for embedded in within(element, "oleObj", "OLEObject"):
        known = attribute(embedded, "progId").startswith("Equation") or attribute(embedded, "ProgID").startswith("Eq")
        kinds["equations without text" if known else "embedded objects"] += 1


def _points(data: Any) -> dict[int, str]:
    """The values that a chart holds for some data, by their places, as it shows them."""
    if data is None:
        return {}
    code = "".join(element.text or "" for element in within(data, "formatCode"))
    values: dict[int, list[str]] = {}
    for point in within(data, "pt"):
        held = "".join(element.text or "" for element in within(point, "v"))
        values.setdefault(int(point.get("idx", "0")), []).insert(0, number_as_shown(held, code) if code else held)
    # Of categories of several levels, the outer ones stand at the first of their group only.
    return {at: " / ".join(levels) for at, levels in values.items()} or {
        at: element.text or "" for at, element in enumerate(within(data, "v"))
    }


class OfficeText:
    """A text as HTML. What is anchored in the words of a paragraph stands behind it, notes stand at the end."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.beside: list[str] = []  # what is anchored in the words read so far: boxes, objects, comments
        self.notes: list[str] = []

    def html(self, element: Any) -> str:
        raise NotImplementedError

    def inside(self, element: Any) -> str:
        return "".join(map(self.html, element))

    def documents(self, text: str, source: str, title: str) -> Iterator[Document | Skipped]:
        """The document of a text; none where it holds nothing. Raises FetchError."""
        text += "".join(self.notes)
        before, heading, _ = text.partition("<h2>")
        if heading and "<h1>" not in text and before.count("<p>") < _TITLE_WITHIN:
            text = text.replace("h2>", "h1>", 2)
        with contextlib.suppress(html.NoText):
            yield html.page(text, source, title, not_read(self.kinds))

    def paragraph(self, tag: str, words: str) -> str:
        beside, self.beside = "".join(self.beside), []
        return (f"<{tag}>{words}</{tag}>" if words.strip() else "") + beside

    def apart(self, element: Any) -> str:
        """What stands in an element within a paragraph, which goes on behind it."""
        waiting, self.beside = self.beside, []
        text = self.inside(element) + "".join(self.beside)
        self.beside = waiting
        return text

    def note(self, sign: str, element: Any) -> str:
        """The mark of a note, which stands at the end under its sign."""
        self.notes.append(labelled(sign, self.apart(element)))
        return f"<sup>{sign}</sup>"


def labelled(label: str, blocks: str) -> str:
    """Blocks with a label before the text of the first."""
    return blocks.replace(">", f">{escape(label)} ", 1)


def marked(words: str, shift: str, *, struck: bool) -> str:
    """Words that are raised, lowered (`shift` begins with "sup" or "sub") or struck."""
    if shift[:3] in ("sup", "sub"):
        words = f"<{shift[:3]}>{words}</{shift[:3]}>"
    return f"<s>{words}</s>" if struck and words.strip() else words


def table(rows: Iterable[Iterable[str]]) -> str:
    """Rows of written cells as a table."""
    return '<table class="sortable"><tr>' + "</tr><tr>".join(map("".join, rows)) + "</tr></table>"
