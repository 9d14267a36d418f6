"""Parses HTML with guards against what keeps the parser busy for minutes, and writes what markup says into the text.

That is: raised and lowered characters, which nobody shall read as part of the number or the word before them, struck
ones, formulas, the numbers of lists.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError
from iterative_rag.text.units import unit_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_WORD = re.compile(r"[^\W\d_]+\Z")
_NUMBER = re.compile(r"\d(?:[\d.,'’\u00a0\u202f]*\d)?\Z")
_SIGNED = re.compile(r"[-+]\w{1,4}|\w{0,3}[-+]")  # of a power or an ion, never of a note
_NOTES = re.compile(r"\d+(?:\s*[,;–-]\s*\d+)+|[*†‡§¶#]+")
_ISOTOPE = re.compile(r"[A-Z][a-z]?(?![a-z])")
_EXPONENT_LETTERS = frozenset("nkxyijpq")
_UNIT_CHARS = 3  # the longest symbol of a unit that is raised: "ft²"; after "hectares" stands a note
_SQUARED = {"2": "²", "3": "³"}


def raised(mark: str, before: str, after: str = "", *, is_note: bool = False) -> str:
    """What to write for a superscript between two texts: "[3]" for a note, "^6" for a power, "²" after a unit.
    `is_note`: the document says so, for example by a link to the note."""
    mark = " ".join(mark.split()).replace("\u2212", "-")
    bare = mark.strip("^[]() ")
    if not bare:
        return f"[{mark}]" if mark else ""
    if is_note or mark[0] in "^[(" or _NOTES.fullmatch(mark):
        return f"[{bare}]"
    if after[:1] in ("/", "⁄"):  # a fraction, after a whole number or alone
        return f" {mark}" if before[-1:].isdigit() else mark
    if _SIGNED.fullmatch(mark):
        return f"^{mark}"
    match = _WORD.search(before)
    word = match[0] if match else ""
    if not mark.isdecimal() or len(mark) > 3:
        if len(word) == 1 and (mark in _EXPONENT_LETTERS or not mark.isalpha()):
            return f"^{mark}" if mark.isalnum() else f"^({mark})"
        return mark
    if _is_power(before, word):
        return _SQUARED.get(mark, f"^{mark}") if word else f"^{mark}"
    lone = before[-1:].isspace() and _ISOTOPE.match(after)
    return mark if lone else f"[{mark}]"


def lowered(mark: str, before: str) -> str:
    """What to write for a subscript: "H2O", but "1010_2"."""
    mark = " ".join(mark.split())
    return f"_{mark}" if before[-1:].isdigit() and mark else mark


def _is_power(before: str, word: str) -> bool:
    """Whether digits that are raised after this text are an exponent, and no note mark."""
    if word:
        return len(word) == 1 or (len(word) <= _UNIT_CHARS and bool(unit_of(word)))
    number = _NUMBER.search(before)
    return (number is not None and (number[0] == "10" or len(number[0]) == 1)) or before.endswith(")")


# The parser compares each attribute of an element with all before it: 40,000 took 5 s, 300,000 would take minutes.
# The maximum number of comparisons; a page of 10 MB needs about a million.
MAX_PAIRS = 400_000_000
_SHORT = 500  # characters of a tag that cannot hold many attributes
# Quotes count after an equals sign only; elsewhere they are part of a name.
_VALUE = r"""=\s*+(?:"[^"]*+"|'[^']*+')"""
_ATTRIBUTES = rf"(?:[^>=]++|{_VALUE}|=)*+"
# A start tag; that of a script or style sheet with its content, which is not HTML.
_TAG = re.compile(rf"<(?:(script|style)\b|[a-z])({_ATTRIBUTES})(?(1)(?:>[^<]*+(?:<(?!/\1)[^<]*+)*+)?)", re.IGNORECASE)
_QUOTED = re.compile(_VALUE)
_SEPARATOR = re.compile(r"""[\s/"']+""")

# The tags that a wiki page may hold.
_NAMES = """
    abbr b bdi bdo big blockquote br caption center cite code data dd del dfn div dl dt em font h1 h2 h3 h4 h5 h6 hr i
    ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub sup table td th time tr tt u ul var wbr
"""
WIKI_TAGS = frozenset(_NAMES.split())
MAX_DEPTH = 2_000
_BLOCK_TAG = re.compile(
    r"<(/?)(?:div|[uod]l|table|blockquote|section|article|center|fieldset|details|pre)\b", re.IGNORECASE
)
# Unicode's private use area, also as character references: the converters mark positions with these characters.
_PRIVATE = re.compile(
    r"[\ue000-\uf8ff]|&#(?:0*5[78]\d{3}(?!\d)|x0*(?:e[0-9a-f]|f[0-8])[0-9a-f]{2}(?![0-9a-f]));?", re.IGNORECASE
)


def parsed(html: str) -> LexborHTMLParser:
    """The tree of a page, without private use characters. Raises FetchError for one that would take minutes to parse,
    or is nested too deeply."""
    from selectolax.lexbor import LexborHTMLParser

    _check_attributes(html := without_private(html))
    if _opens_too_many(html) or _is_too_deep(tree := LexborHTMLParser(html)):
        raise FetchError(f"It is nested more than {MAX_DEPTH:,} levels deep.")
    return tree


def without_private(html: str) -> str:
    """The page without private use characters, however they are written."""
    return _PRIVATE.sub(" ", html)  # a space, because what stood on both sides could form another one


def _check_attributes(html: str) -> None:
    pairs = 0
    for tag in _TAG.finditer(html):
        if len(tag[2]) > _SHORT:
            # Quoted values may hold slashes (pictures in base64), and what looks like a value may be none.
            words = max(len(tag[2].split()), len(_SEPARATOR.findall(_QUOTED.sub(" ", tag[2]))))
            pairs += words * words // 2
            if pairs > MAX_PAIRS:
                raise FetchError(f"An element of the page has about {words:,} attributes.")


def _opens_too_many(html: str) -> bool:
    """Whether too many blocks are open at once: the parser goes through all of them for each that opens."""
    level = 0
    for tag in _BLOCK_TAG.finditer(html):
        level = max(0, level - 1) if tag[1] else level + 1
        if level > MAX_DEPTH:
            return True
    return False


def _is_too_deep(tree: LexborHTMLParser) -> bool:
    """Whether the tree has more levels than the converters can process."""
    level = 0
    node = tree.root
    while node is not None:
        if node.first_child is not None:
            node, level = node.first_child, level + 1
            if level > MAX_DEPTH:
                return True
            continue
        while node is not None and node.next is None:
            node, level = node.parent, level - 1
        node = node.next if node is not None else None
    return False


_INLINE = """
    a abbr b bdi bdo big cite data del dfn em font i ins kbd mark s samp small span strike strong sub sup time tt u var
"""
INLINE = frozenset(_INLINE.split())
_TEX_FRAME = re.compile(r"\{\\(?:display|text)style (.*)\}", re.DOTALL)
_STRUCK = ("del", "s", "strike")
_ADJACENT = re.compile(r"(?<=[^\s~])~~([ ]?)~~(?=[^\s~])")
_NUMBERED = "\ue004"  # before the number of a list's entry
_CONVERTER_NUMBER = re.compile(rf"(?:\d+[.)] )?{_NUMBERED}")
_WHOLE = re.compile(r"[+-]?[0-9]{1,7}")
_ROMAN_SIGNS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def write_formulas(tree: LexborHTMLParser) -> None:
    """Write formulas as the TeX that they were made of, where the page says it."""
    for node in tree.css(".mwe-math-element, math"):
        formula = node if node.tag == "math" else node.css_first("math")
        if formula is not None and node.parent is not None:
            tex = formula.css_first("annotation[encoding*=tex i]")
            said = (formula.attributes.get("alttext") or (tex.text() if tex is not None else "")).strip()
            framed = _TEX_FRAME.fullmatch(said)
            if said:
                node.replace_with(framed[1].strip() if framed else said)
    for node in tree.css("img.tex[alt], img[class*=mwe-math][alt]"):
        node.replace_with(node.attributes.get("alt") or "")


def write_scripts(tree: LexborHTMLParser) -> None:
    """Write superscripts and subscripts so that they stay apart: 10<sup>6</sup> is not 106."""
    for node in tree.css("sup, sub, span[style*='super' i]"):
        before, after = _beside(node)
        if node.tag == "sub":
            node.replace_with(lowered(node.text(), before))
        else:
            links = [link for link in (node.parent, *node.css("a")) if link is not None and link.tag == "a"]
            is_note = any("#" in (link.attributes.get("href") or "") for link in links)
            node.replace_with(raised(node.text(), before, after, is_note=is_note))


def _beside(node: LexborNode) -> tuple[str, str]:
    """The ends of the text before and after a node."""
    before, after = (
        "" if other is None or other.tag in ("br", "sub", "sup") else other.text() for other in (node.prev, node.next)
    )
    return before[-40:], after[:8]


def strike(tree: LexborHTMLParser) -> None:
    """Write struck text as ~~text~~, and leave out what an insertion replaces: it is not what the page says now."""
    done: set[int] = set()
    for node in tree.css("del, s, strike, [style*='line-through' i]"):
        beside = node.next
        while beside is not None and beside.tag == "-text" and not beside.text().strip():
            beside = beside.next
        if node.tag == "del" and beside is not None and beside.tag == "ins":
            node.decompose()
            continue
        if node.mem_id not in done:
            done.update(_strike(node))
        if node.tag in _STRUCK:
            node.unwrap()  # the converter would mark it again


def _strike(node: LexborNode) -> list[int]:
    """Strike the texts in a node; returns what it holds."""
    parts = list(node.traverse(include_text=True))
    for part in parts:
        if part.tag == "-text" and (text := part.text()).strip():
            start, end = len(text) - len(text.lstrip()), len(text.rstrip())
            part.replace_with(f"{text[:start]}~~{text[start:end]}~~{text[end:]}")
    return [part.mem_id for part in parts if part.tag != "-text"]


def number_lists(tree: LexborHTMLParser) -> None:
    """Write the numbers of the lists that do not count 1, 2, 3, which the converter does not know."""
    for node in tree.css("ol"):
        entries = [child for child in node.iter() if child.tag == "li"]
        values = [item.attributes.get("value") for item in entries]
        given = node.attributes.get("type")
        sign = given if given in ("a", "A", "i", "I") else "1"
        step = -1 if "reversed" in node.attributes else 1
        number = _whole(node.attributes.get("start"), len(entries) if step < 0 else 1)
        if (sign, step, number) == ("1", 1, 1) and not any(values):
            continue
        for entry, value in zip(entries, values, strict=True):
            number = _whole(value, number)
            start = entry
            while start.first_child is not None and start.first_child.tag in ("p", "div"):
                start = start.first_child
            label = f"{_NUMBERED}{counted(number, sign)}. "
            if start.first_child is not None:
                start.first_child.insert_before(label)
            number += step


def counted(number: int, sign: str) -> str:
    """A number as a list shows it: "3", "c" or "iii"."""
    label = ""
    if sign in "aA" and number > 0:
        while number:
            number, letter = divmod(number - 1, 26)
            label = chr(ord("a") + letter) + label
    elif sign in "iI" and 0 < number < 4000:
        for value, letters in _ROMAN_SIGNS:
            times, number = divmod(number, value)
            label += letters * times
    else:
        return str(number)
    return label.upper() if sign.isupper() else label


def _whole(text: str | None, other: int) -> int:
    return int(text) if text and _WHOLE.fullmatch(text.strip()) else other


def tidied(text: str) -> str:
    """The converter's Markdown with the numbers that `number_lists` wrote instead of its own, struck parts as one."""
    return _ADJACENT.sub(r"\1", _CONVERTER_NUMBER.sub("", text))
