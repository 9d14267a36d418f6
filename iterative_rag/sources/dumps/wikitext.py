"""Wikitext -> Markdown: the text, infoboxes and tables that the HTML of the page would give, without a wiki.

mwparserfromhell reads templates and links, which are rendered from the inside out; then the lines are parsed as
MediaWiki does it. Its parser takes time by the square of what is opened and never closed, and cannot be interrupted: it
gets the outermost templates and links one by one, their brackets matched in linear time beforehand.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError, MissingExtra
from iterative_rag.sources.dumps.blocks import BRACE, END, PIECE, PIECES, PIPE, TAG, TAG_END, blocks, inline, known_tags
from iterative_rag.sources.dumps.pages_xml import DumpSite
from iterative_rag.sources.dumps.templates import Arguments, expand
from iterative_rag.sources.html_marks import without_deep_tags, without_private
from iterative_rag.sources.wikipedia import page_markdown

if TYPE_CHECKING:
    from mwparserfromhell.nodes import Template
    from mwparserfromhell.wikicode import Wikicode

EXTRA = "dumps"
MAX_CHARS = 2 * 1024 * 1024  # MediaWiki's own default limit for a page is 2 MiB
MAX_DEPTH = 20  # of templates and links within one another: of those that hold more the text is left
_MAX_DEEP = 50  # of those whose text is left
_MAX_GROWTH = 20  # the HTML may have this many times the characters of its wikitext
_MAX_BARS = 20_000  # of one template: the parser needs a kilobyte for each
UNEXPANDED = "unexpanded templates"

_BRACKETS = re.compile(r"\{{2,}|\}{2,}|\[{2,}|\]{2,}")
_NAME = re.compile(r"name\s*=\s*[\"']?([^\"'/>]*)", re.IGNORECASE)
_EXTERNAL_LINK = re.compile(r"\[(?:[a-z]{3,10}:)?//(?:[^\s\[\]<>]{1,2000}[ \t]*([^\[\]\n]{0,1000})\])?")
_LINK = re.compile(r"\[\[([^\[\]{}|\n<>]+)(?:\|([^\[\]{}|\n]*))?\]\]")
_TABLE = re.compile(r"^([ \t:]*)(?:(\{)\||\|(\})(?=\}\}(?!\})|[^}]|$))", re.MULTILINE)
_LANGUAGE_LINK = re.compile(r"[a-z]{2,3}(?:-[a-z-]{2,12})?:(?=\S)")
_QUALIFIER = re.compile(r" \([^()]*\)$|,[^,]*$")
_SWITCH = re.compile(r"__[A-Z]{3,40}__")
_VARIANT = re.compile(r"-\{(?:[^{}|]{0,50}\|)?(?:zh[\w-]*:)?([^;{}]{0,500})[^{}]{0,500}\}-")
# Of a file: a word in small letters, a size, or `name=value`.
_OPTION = re.compile(r"[^\W\d_A-ZÀ-ÞА-Я]\w{0,20}|\d*(?:x\d+)?\s*px|[\w-]+\s*=.*")
_WITHIN_LINE = frozenset(["border", "frameless", "baseline", "middle", "sub", "super", "top", "bottom", "rand"])
_SIGNS = {"!": PIPE, "(!": f"{{{PIPE}", "!)": f"{PIPE}}}", "!-": f"{PIPE}-", "!!": PIPE + PIPE, "=": "="}
_NOTE = re.compile(r"refn|efn\b.*|note ?tag|fnz|#tag:ref", re.IGNORECASE)
_PLAIN = ("nowiki", "math", "chem", "ce")
_CODE = ("pre", "source", "syntaxhighlight")
_DRAWN = {
    "timeline": "timelines", "score": "musical scores", "graph": "graphs", "imagemap": "image maps",
    "hiero": "hieroglyphs", "mapframe": "maps",
}  # fmt: skip
_DROPPED = "maplink templatedata templatestyles categorytree charinsert includeonly inputbox indicator style script"
_ELEMENTS = sorted((*_PLAIN, *_CODE, "poem", "gallery", "ref", *_DRAWN, *_DROPPED.split()), reverse=True)
_ELEMENT = re.compile(rf"<(?:(!--)|({'|'.join(_ELEMENTS)})(?=[\s/>])([^<>]*)>)", re.IGNORECASE)
# What shows that a reference names a source, and says nothing itself.
_CITATION = re.compile(
    r"//|\{\{\s*(?:[ck]it|harv|sfn|lit|internetq|ouvrage|lien|article|web|книга|статья|doi|rp\b|bib)|ISBN"
    r"|''\s*[.:(]|:\s*''|\b(?:pp?|S|с|pág|f|ff)\.\s*\d|^\W*[^\W\d_]+,? \(?\d{4}[a-z]?\W*$"
    r"|^\W*(?:see|vgl|siehe|ibid|ebenda|cf|op)\b",
    re.IGNORECASE,
)


def require_converters() -> None:
    """Raises MissingExtra, so that callers fail before they read the first page."""
    try:
        import mwparserfromhell  # noqa: F401

        page_markdown.require_converters()
    except (ImportError, MissingExtra) as error:
        raise MissingExtra(EXTRA) from error


def to_markdown(wikitext: str, title: str, site: DumpSite | None = None) -> tuple[str, Counter[str]]:
    """The page as Markdown, headed by its title, and how much of what kind it could not express.

    Raises MissingExtra, or FetchError for a page that is too large or expands to too much text.
    """
    require_converters()
    page, unread = to_html(wikitext, title, site)
    return page_markdown.to_markdown(page, title), unread


def to_html(wikitext: str, title: str, site: DumpSite | None = None) -> tuple[str, Counter[str]]:
    """As much HTML as the converter of pages needs: paragraphs, lists, headings, tables, infoboxes."""
    if len(wikitext) > MAX_CHARS:
        raise FetchError(f"The page {title!r} is larger than the limit of {MAX_CHARS:,} characters.")
    page = _Page(title, site or DumpSite(), max_chars=_MAX_GROWTH * len(wikitext) + 100_000)
    return without_deep_tags(without_private(page.html(wikitext))), page.unread


class _Page:
    """Renders templates and links, innermost first: what contains them sees the mark of a piece, never their text."""

    def __init__(self, title: str, site: DumpSite, max_chars: int) -> None:
        from mwparserfromhell import nodes, parse

        self.unread: Counter[str] = Counter()
        self._nodes = nodes
        self._parse = partial(parse, skip_style_tags=True)
        self._title = title
        self._site = site
        self._pieces: list[str] = []
        self._room = max_chars
        self._notes: list[str] = []
        self._names: dict[str, str] = {}  # of references: the mark of their note

    def html(self, wikitext: str) -> str:
        text = without_private(wikitext.replace("\r\n", "\n").replace("\r", "\n"))
        body = blocks(self._wikitext(self._without_elements(_SWITCH.sub("", text))))
        done = 0
        while done < len(self._notes):  # a note may hold others
            done += 1
            body += f"<p>[{done}] {inline(self._wikitext(self._notes[done - 1]).strip())}</p>\n"
        return self._expanded(body)

    # --- pieces ---

    def _piece(self, rendered: str) -> str:
        """The mark that stands for HTML; "" for none. Raises FetchError when they add up to too much."""
        if not rendered:
            return ""
        self._pieces.append(self._expanded(rendered).replace(PIPE, "|"))
        return f"{PIECE}{len(self._pieces) - 1}{END}"

    def _expanded(self, text: str) -> str:
        expanded = PIECES.sub(lambda match: self._pieces[int(match[1])], text)
        self._room -= len(expanded)
        if self._room < 0:
            raise FetchError("The page's templates expand to too much text.")
        return expanded

    # --- elements ---

    def _without_elements(self, text: str) -> str:
        """The text without comments, references and other elements that are not wikitext; formulas and code as pieces.

        Linear: an element that is never closed is searched for its end once, not once per start tag.
        """
        kept: list[str] = []
        unclosed: set[str] = set()
        lowered = text.lower() if len(text.lower()) == len(text) else text
        at = 0
        while opening := _ELEMENT.search(text, at):
            kept.append(text[at : opening.start()])
            at = opening.end()
            if opening[1]:
                end = text.find("-->", at)
                at = end + 3 if end >= 0 else len(text)
                continue
            name, attributes = opening[2].lower(), opening[3]
            if attributes.endswith("/") or name in unclosed:
                kept.append(self._names.get(_named(attributes), "") if name == "ref" else "")
                continue
            end = lowered.find(f"</{name}", at)
            if end < 0:
                unclosed.add(name)
                continue
            kept.append(self._element(name, attributes, text[at:end]))
            closing = text.find(">", end)
            at = closing + 1 if closing >= 0 else len(text)
        return "".join([*kept, text[at:]])

    def _element(self, name: str, attributes: str, content: str) -> str:
        if name in _PLAIN:
            return self._piece(html.escape(content, quote=False))
        if name in _CODE:
            return self._piece(f"<pre>{html.escape(content.strip(), quote=False)}</pre>")
        if name == "poem":
            return "<br>".join(content.strip().split("\n"))
        if name == "gallery":
            captions = (line.partition("|")[2].strip() for line in content.split("\n"))
            return "\n" + "".join(f"* {caption}\n" for caption in captions if caption)
        if name == "ref":
            mark = self._note(content) if " " in content.strip() and not _CITATION.search(content) else ""
            self._names[_named(attributes)] = mark if _named(attributes) else ""
            return mark
        if name in _DRAWN:
            self.unread[_DRAWN[name]] += 1
        return ""

    def _note(self, text: str) -> str:
        self._notes.append(text)
        return self._piece(f"[{len(self._notes)}]")

    # --- templates and links ---

    def _wikitext(self, text: str) -> str:
        """Wikitext without brackets, its templates and links as pieces."""
        text = _EXTERNAL_LINK.sub(lambda match: "&#91;//" if match[1] is None else match[1], _VARIANT.sub(r"\1", text))
        # Tags may overlap cells, and tables have bars: neither is anything to the parser of templates.
        text = _TABLE.sub(_masked, known_tags(text).replace("<", TAG).replace(">", TAG_END))
        parts, deep = _parted(text)
        self.unread["templates nested too deeply"] += deep
        rendered = "\n"
        for number, part in enumerate(parts):
            if simple := _LINK.fullmatch(part):  # most are: parsing them takes ten times as long
                rendered += self._link(simple[1], simple[2])
            elif part[:2] in ("{{", "[[") and part.count("|") <= _MAX_BARS:
                after = next(filter(None, parts[number + 1 : number + 3]), "\n")
                alone = rendered[-1] == "\n" and after[0] == "\n"
                rendered += self._rendered(self._parse(part), alone=alone)
            else:
                rendered += _BRACKETS.sub("", part)
        return rendered[1:]

    def _rendered(self, code: Wikicode | None, *, alone: bool = False) -> str:
        rendered = []
        for node in code.nodes if code is not None else ():
            if isinstance(node, self._nodes.Text):
                rendered.append(_BRACKETS.sub("", node.value))
            elif isinstance(node, self._nodes.Template):
                rendered.append(self._template(node, alone=alone))
            elif isinstance(node, self._nodes.Wikilink):
                label = None if node.text is None else self._rendered(node.text)
                rendered.append(self._link(self._rendered(node.title), label))
            elif isinstance(node, self._nodes.Argument):
                rendered.append(self._rendered(node.default))
            elif isinstance(node, self._nodes.Heading):
                rendered.append("=" * node.level + self._rendered(node.title) + "=" * node.level)
            else:
                rendered.append(_BRACKETS.sub("", str(node)))
        return "".join(rendered)

    def _template(self, node: Template, *, alone: bool) -> str:
        name = self._rendered(node.name).strip()
        if name in _SIGNS:
            return _SIGNS[name]
        values: list[str] = []
        named: dict[str, str] = {}
        written: dict[str, str] = {}
        for param in node.params:
            key, value = self._rendered(param.name), self._rendered(param.value)
            # In <span style="..."> the equals sign separates no name.
            if param.showkey and TAG not in key and not PIECES.search(key):
                named[key := " ".join(key.split()).lower()] = value.strip()
                written[key] = " ".join(str(param.name).split())
            else:
                values.append((f"{key}={value}" if param.showkey else value).strip())
        given = Arguments(name, tuple(values), named, self._site.language or "en", written)
        if _NOTE.fullmatch(name):
            return self._note(given.get("text", "1") or next(iter(given.values[-1:]), ""))
        if (text := _function(name, given, self._title)) is None:
            text, known = expand(given, alone=alone)
            self.unread[UNEXPANDED] += not known
        return self._piece(blocks(text) if "\n" in text else inline(text))

    def _link(self, target: str, label: str | None) -> str:
        target = " ".join(target.replace("_", " ").split())
        namespace = target.partition(":")[0].strip().lower() if ":" in target else ""
        if namespace in self._site.files:
            return self._caption((label or "").split("|"))
        if namespace in self._site.categories or (label is None and _LANGUAGE_LINK.match(target)):
            return ""
        if label is None:
            label = target.removeprefix(":").removeprefix("#")
        elif not label.strip():
            label = _QUALIFIER.sub("", target.rpartition(":")[2])
        return self._piece(inline(label.replace("\n", " ")))

    def _caption(self, params: list[str]) -> str:
        """A file's caption: apart from the text around it, or as the description of a small picture within a line."""
        options = [param.strip() for param in params if _OPTION.fullmatch(param.strip())]
        captions = [param.strip() for param in params if param.strip() and param.strip() not in options]
        alts = [option.partition("=")[2].strip() for option in options if option.lower().startswith("alt")]
        caption = inline((captions or alts or [""])[-1].replace("\n", " "))
        if any(option.isalpha() and option.lower() not in _WITHIN_LINE for option in options) and captions:
            return self._piece(f"<div>{caption}</div>")
        text = re.sub("<[^>]*>", "", self._expanded(caption))
        return self._piece(f'<img alt="{html.escape(html.unescape(text))}">' if text else "")


def _masked(match: re.Match[str]) -> str:
    return match[1] + ("{" + PIPE if match[2] else PIPE + BRACE)


def _parted(text: str) -> tuple[list[str], int]:
    """The text in parts, each outermost template and link one, begun by its brackets; how many were nested too deeply.

    Brackets that match nothing are left out. Linear, whatever is never closed.
    """
    parts: list[str] = []
    depths: list[int] = []  # of the templates and links in each part
    opened: list[tuple[str, int, int]] = []  # bracket, how many, where its content begins in `parts`
    unclosed = {"{": 0, "[": 0}
    at = deep = 0
    for run in _BRACKETS.finditer(text):
        parts.append(text[at : run.start()])
        depths.append(0)
        at, bracket, count = run.end(), run[0][0], len(run[0])
        if bracket in unclosed:
            opened.append((bracket, count, len(parts)))
            unclosed[bracket] += 1
            continue
        bracket = "{" if bracket == "}" else "["
        while count >= 2 and unclosed[bracket]:
            other, wide, start = opened.pop()
            unclosed[other] -= 1
            if other != bracket:
                continue  # it was never closed: its content belongs to what contains it
            width = min(count, wide, 3 if bracket == "{" else 2)
            source, depth = "".join(parts[start:]), 1 + max(depths[start:], default=0)
            del parts[start:], depths[start:]
            if wide - width >= 2:
                opened.append((bracket, wide - width, start))
                unclosed[bracket] += 1
            if depth <= MAX_DEPTH:
                source = bracket * width + source + run[0][0] * width
            else:  # their text, but not of thousands within one another, which would be joined as often
                source, depth = _BRACKETS.sub("", source).replace("|", " ") if deep < _MAX_DEEP else "", 0
                deep += 1
            parts.append(source)
            depths.append(depth)
            count -= width
    return [*parts, text[at:]], deep


def _named(attributes: str) -> str:
    name = _NAME.search(attributes)
    return name[1].strip() if name else ""


def _function(name: str, given: Arguments, title: str) -> str | None:
    """What a parser function or variable gives; None where the name is that of a template."""
    function, colon, first = name.partition(":")
    function, first = function.strip().lower(), first.strip()
    at = [*given.values, *(f"{key}={value}" for key, value in given.named.items()), "", "", ""]
    if not colon:
        return title if function in ("pagename", "fullpagename", "basepagename", "subpagename") else None
    match function:
        case "#if":
            return at[0] if first else at[1]
        case "#ifeq":
            return at[1] if first == at[0] else at[2]
        case "#ifexpr" | "#ifexist":
            return at[0]
        case "#switch":
            return given.named.get(first.lower()) or given.get("#default") or "".join(given.values[-1:])
        case "formatnum":
            return expand(Arguments(function, (first,), {}, given.language), alone=False)[0]
        case "lc" | "uc":
            return first.lower() if function == "lc" else first.upper()
        case "#iferror" | "#expr" | "ucfirst" | "lcfirst" | "nowiki" | "plural" | "padleft" | "padright":
            return first
    return None
