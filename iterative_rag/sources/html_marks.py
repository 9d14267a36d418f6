"""What the markup of a page says, written into its text: raised and struck characters, the numbers of lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from iterative_rag.sources import superscripts

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_INLINE = """
    a abbr b bdi bdo big cite data del dfn em font i ins kbd mark s samp small span strike strong sub sup time tt u var
"""
INLINE = frozenset(_INLINE.split())
_IN_LINE = INLINE | {"-text"}
_MAX_STEPS = 6  # to the text beside a superscript
_TEX_FRAME = re.compile(r"\{\\(?:display|text)style (.*)\}", re.DOTALL)
# The signs between the parts of a formula that stand above, below or beside one another.
_LAYOUTS = {
    "mfrac": "/", "msup": "^", "msub": "_", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^",
    "msqrt": "", "mroot": "",
}  # fmt: skip
_MOST_NESTED = 50  # parts of a formula
_STRUCK = ("del", "s", "strike")
_ADJACENT = re.compile(r"(?<=[^\s~])~~([ ]?)~~(?=[^\s~])")
_SIMPLE_SELECTOR = re.compile(r"(?=.)(?:[a-zA-Z]\w*)?(?:[.#][a-zA-Z_][\w-]*)*")
_MAX_SELECTORS = 40
_NUMBERED = "\ue004"  # before the number of a list's entry
_CONVERTER_NUMBER = re.compile(rf"(?:\d+[.)] )?{_NUMBERED}")
_WHOLE = re.compile(r"[+-]?[0-9]{1,7}")
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?((?:lower|upper)-(?:alpha|latin|roman))", re.IGNORECASE)
_LIST_STYLES = {"lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A"}
_LIST_STYLES |= {"lower-roman": "i", "upper-roman": "I"}
_ROMAN_SIGNS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def write_formulas(tree: LexborHTMLParser) -> None:
    """Write formulas as the TeX that they were made of, else on one line: (a)/(b), x^(2)."""
    for node in tree.css(".MathJax, .MathJax_Preview, .MathJax_Display"):
        node.decompose()  # the picture of what the script beside it says
    for node in tree.css("script[type^='math/tex']"):
        node.replace_with(f" {node.text().strip()} ")
    for node in tree.css("img.tex[alt], img[class*=mwe-math][alt]"):
        if not (node.parent is not None and node.parent.css_matches("math")):
            node.replace_with(node.attributes.get("alt") or "")
    for node in tree.css(".mwe-math-element, math"):
        formula = node if node.tag == "math" else node.css_first("math")
        if formula is not None and node.parent is not None:
            tex = formula.css_first("annotation[encoding*=tex i]")
            said = (formula.attributes.get("alttext") or (tex.text() if tex is not None else "")).strip()
            framed = _TEX_FRAME.fullmatch(said)
            node.replace_with((framed[1].strip() if framed else said) or _on_a_line(formula))


def _on_a_line(node: LexborNode, depth: int = 0) -> str:
    """A part of a formula in MathML as text."""
    if node.tag == "-text" or depth > _MOST_NESTED:
        return " ".join(node.text().split())
    parts = [one for one in node.iter(include_text=True) if one.tag not in ("annotation", "annotation-xml")]
    if node.tag not in _LAYOUTS:
        joint = {"mtable": "; ", "mtr": ", "}.get(node.tag or "", "")
        return joint.join(filter(None, (_on_a_line(one, depth + 1) for one in parts)))
    texts = [_on_a_line(one, depth + 1) for one in parts if one.tag != "-text"]
    held = [f"({text})" if len(text) > 1 and not text.isalnum() else text for text in texts]
    signs = _LAYOUTS[node.tag]
    if node.tag == "msqrt":
        return f"√({''.join(texts)})"
    if node.tag == "mroot":
        return f"{''.join(texts[1:])}√({''.join(texts[:1])})"
    return "".join(sign + text for sign, text in zip(("", *signs), held, strict=False))


def write_scripts(tree: LexborHTMLParser) -> None:
    """Write superscripts and subscripts so that they stay apart: 10<sup>6</sup> is not 106."""
    for node in tree.css("sup, sub, span[style*='super' i]"):
        before, after = _beside(node)
        if node.tag == "sub":
            node.replace_with(superscripts.lowered(node.text(), before, after))
        else:
            node.replace_with(superscripts.raised(node.text(), before, after, is_note=_is_note(node)))


def _beside(node: LexborNode) -> tuple[str, str]:
    """The ends of the text before and after a node, within its line."""
    sides = []
    for step in ("prev", "next"):
        beside, at = "", node
        while not beside and at.tag in INLINE:
            other = getattr(at, step)
            for _ in range(_MAX_STEPS):
                if beside or other is None or other.tag not in _IN_LINE:
                    break
                beside = "" if other.tag in ("sup", "sub") else other.text()
                other = getattr(other, step)
            if other is not None or at.parent is None:
                break
            at = at.parent
        sides.append(beside)
    return sides[0][-40:], sides[1][:8]


def _is_note(node: LexborNode) -> bool:
    """Whether a superscript links to a note."""
    links = [one for one in (node.parent, *node.css("a")) if one is not None and one.tag == "a"]
    return any("#" in (one.attributes.get("href") or "") for one in links)


def strike(tree: LexborHTMLParser, selectors: list[str]) -> None:
    """Write struck text as ~~text~~, and leave out what an insertion replaces: it is not what the page says now."""
    done: set[int] = set()
    for node in tree.css(", ".join(["del, s, strike, [style*='line-through' i]", *selectors])):
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


def struck_by_sheets(tree: LexborHTMLParser) -> list[str]:
    """The selectors that the page's own style sheets strike through."""
    rules = (rule.rpartition("{") for sheet in tree.css("style") for rule in sheet.text().split("}"))
    names = (name.strip() for before, _, rule in rules if "line-through" in rule for name in before.split(","))
    return [name for name in names if _SIMPLE_SELECTOR.fullmatch(name)][:_MAX_SELECTORS]


def number_lists(tree: LexborHTMLParser) -> None:
    """Write the numbers of the lists that do not count 1, 2, 3, which the converter does not know."""
    for found in tree.css("ol"):
        entries = [one for one in found.iter() if one.tag == "li"]
        values = [one.attributes.get("value") for one in entries]
        sign = _counting(found)
        step = -1 if "reversed" in found.attributes else 1
        number = _whole(found.attributes.get("start"), len(entries) if step < 0 else 1)
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


def _counting(node: LexborNode) -> str:
    """How a list counts, as its attribute `type` says it: "1", "a", "A", "i" or "I"."""
    style = _LIST_STYLE.search((node.attributes.get("style") or "")[:500])
    given = _LIST_STYLES.get(style[1].lower(), "1") if style else node.attributes.get("type") or "1"
    return given if given in ("a", "A", "i", "I") else "1"


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
