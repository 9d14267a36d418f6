"""Wikitext -> Markdown: the text, infoboxes and tables that the HTML of the page would give, without a wiki.

Templates and links are rendered from the inside out, in one pass over their brackets; then the lines are parsed as
MediaWiki does it. (mwparserfromhell takes time by the square of what is opened and never closed.)
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import quote

from iterative_rag.errors import FetchError
from iterative_rag.sources.dumps.blocks import BRACE, END, PIECE, PIECES, PIPE, TAG, TAG_END, blocks, inline, known_tags
from iterative_rag.sources.dumps.templates import Arguments, expand
from iterative_rag.sources.html_marks import without_private
from iterative_rag.sources.wikipedia import page_markdown

MAX_CHARS = 2 * 1024 * 1024  # MediaWiki's own default limit for a page is 2 MiB
MAX_DEPTH = 20  # of templates and links within one another: of those that hold more the text is left
_MAX_DEEP = 5  # of those whose text is left
_MAX_GROWTH = 20  # the HTML may have this many times the characters of its wikitext
UNEXPANDED = "unexpanded templates"

_BRACKETS = re.compile(r"\{{2,}|\}{2,}|\[{2,}|\]{2,}")
_EXTERNAL_LINK = re.compile(r"\[(?:[a-z]{3,10}:)?//(?:[^\s\[\]<>]{1,2000}[ \t]*([^\[\]\n]{0,1000})\])?")
_NAME = re.compile(f"[^{PIECE}{TAG}]+")  # of a template or the target of a link
_TABLE = re.compile(r"^([ \t:]*)(?:(\{)\||\|(\})(?=\}\}(?!\})|[^}]|$))", re.MULTILINE)
_SWITCH = re.compile(r"__[A-Z]{3,40}__")
# Of a file: a word in small letters, a size, or `name=value`.
_OPTION = re.compile(r"[^\W\d_A-ZÀ-ÞА-Я]\w{0,20}|\d*(?:x\d+)?\s*px|[\w-]+\s*=.*")
_SIGNS = {"!": PIPE, "(!": f"{{{PIPE}", "!)": f"{PIPE}}}", "!-": f"{PIPE}-", "!!": PIPE + PIPE, "=": "="}
# Parser functions that leave their first argument.
_FUNCTIONS = ("formatnum", "lc", "uc", "ucfirst", "lcfirst", "#expr", "#iferror", "plural", "nowiki")
_PLAIN = ("nowiki", "math", "chem", "ce")
_CODE = ("pre", "source", "syntaxhighlight")
_DRAWN = {
    "timeline": "timelines", "score": "musical scores", "graph": "graphs", "imagemap": "image maps",
    "hiero": "hieroglyphs", "mapframe": "maps",
}  # fmt: skip
_DROPPED = "maplink templatedata templatestyles categorytree charinsert includeonly inputbox indicator style script"
_ELEMENTS = sorted((*_PLAIN, *_CODE, "gallery", "ref", *_DRAWN, *_DROPPED.split()), reverse=True)
_ELEMENT = re.compile(rf"<(?:(!--)|({'|'.join(_ELEMENTS)})(?=[\s/>])([^<>]*)>)", re.IGNORECASE)


@dataclass(slots=True)
class DumpSite:
    """The wiki as its dump describes it, with the names, in lower case, of its file and category namespaces."""

    language: str = ""
    name: str = ""
    base: str = ""
    files: set[str] = field(default_factory=lambda: {"file", "image", "media"})
    categories: set[str] = field(default_factory=lambda: {"category"})

    def url_of(self, title: str) -> str | None:
        if not self.base.startswith(("http://", "https://")):
            return None
        return f"{self.base.rpartition('/')[0]}/{quote(title.replace(' ', '_'), safe='/:,()!;@$*~')}"


def to_markdown(wikitext: str, title: str, site: DumpSite | None = None) -> tuple[str, Counter[str]]:
    """The page as Markdown, headed by its title, and how much of what kind it could not express. Raises FetchError for
    a page that is too large or expands to too much text."""
    if len(wikitext) > MAX_CHARS:
        raise FetchError(f"It is larger than the limit of {MAX_CHARS:,} characters.")
    page = _Page(title, site or DumpSite(), max_chars=_MAX_GROWTH * len(wikitext) + 100_000)
    return page_markdown.to_markdown(page.html(wikitext), title), page.unread


class _Page:
    """Renders templates and links, innermost first: what contains them sees the mark of a piece, never their text."""

    def __init__(self, title: str, site: DumpSite, max_chars: int) -> None:
        self.unread: Counter[str] = Counter()
        self._title = title
        self._site = site
        self._pieces: list[str] = []
        self._room = max_chars

    def html(self, wikitext: str) -> str:
        """As much HTML as the converter of pages needs: paragraphs, lists, headings, tables, infoboxes."""
        text = without_private(wikitext.replace("\r\n", "\n").replace("\r", "\n"))
        return self._expanded(blocks(self._wikitext(self._without_elements(_SWITCH.sub("", text)))))

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

    def _without_elements(self, text: str) -> str:
        """The text without comments, references and other elements that are not wikitext; formulas and code as pieces.
        Linear: an element that is never closed is searched for its end once, not once per start tag."""
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
                continue
            end = lowered.find(f"</{name}", at)
            if end < 0:
                unclosed.add(name)
                continue
            kept.append(self._element(name, text[at:end]))
            closing = text.find(">", end)
            at = closing + 1 if closing >= 0 else len(text)
        return "".join([*kept, text[at:]])

    def _element(self, name: str, content: str) -> str:
        if name in _PLAIN:
            return self._piece(html.escape(content, quote=False))
        if name in _CODE:
            return self._piece(f"<pre>{html.escape(content.strip(), quote=False)}</pre>")
        if name == "gallery":
            captions = (line.partition("|")[2].strip() for line in content.split("\n"))
            return "\n" + "".join(f"* {caption}\n" for caption in captions if caption)
        if name in _DRAWN:
            self.unread[_DRAWN[name]] += 1
        return ""

    def _wikitext(self, text: str) -> str:
        """Wikitext without brackets, its templates and links as pieces. Brackets that match nothing are left out.
        Linear, whatever is never closed."""
        text = _EXTERNAL_LINK.sub(lambda match: "&#91;//" if match[1] is None else match[1], text)
        # Tags may overlap cells, and tables have bars: neither is anything to a template.
        text = known_tags(text).replace("<", TAG).replace(">", TAG_END)
        text = _TABLE.sub(lambda match: match[1] + ("{" + PIPE if match[2] else PIPE + BRACE), text)
        parts: list[tuple[str, int]] = []  # texts, and how deep the templates and links in them were nested
        opened: list[tuple[str, int, int]] = []  # bracket, how many, where its content begins in `parts`
        unclosed = {"{": 0, "[": 0}
        at = 0
        for run in _BRACKETS.finditer(text):
            if run.start() > at:
                parts.append((text[at : run.start()], 0))
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
                content = "".join(part for part, _ in parts[start:])
                depth = 1 + max((depth for _, depth in parts[start:]), default=0)
                del parts[start:]
                if wide - width >= 2:
                    opened.append((bracket, wide - width, start))
                    unclosed[bracket] += 1
                own_line = not opened and (not parts or parts[-1][0][-1] == "\n") and text[at : at + 1] in ("", "\n")
                rendered, depth = self._closed(bracket * width, content, depth, alone=own_line)
                parts += [(rendered, depth)] if rendered else []
                count -= width
        return "".join([*(part for part, _ in parts), text[at:]])

    def _closed(self, bracket: str, content: str, depth: int, *, alone: bool) -> tuple[str, int]:
        """What stands for a template, argument or link whose own templates and links are rendered; and its depth."""
        if depth > MAX_DEPTH:  # their text, but not of thousands within one another, which would be joined as often
            self.unread["templates nested too deeply"] += 1
            kept = self.unread["templates nested too deeply"] <= _MAX_DEEP
            return content.replace("|", " ") if kept else "", 0
        if bracket == "{{{":
            return content.partition("|")[2], depth
        name, bar, rest = content.partition("|")
        if not _NAME.fullmatch(name):
            return content, depth
        if bracket == "{{":
            return self._template(name, rest.split("|") if bar else [], alone=alone), depth
        return self._link(name, rest if bar else None), depth

    def _template(self, name: str, arguments: list[str], *, alone: bool) -> str:
        name = name.strip()
        if name in _SIGNS:
            return _SIGNS[name]
        values: list[str] = []
        named: dict[str, str] = {}
        for argument in arguments:
            key, equals, value = argument.partition("=")
            # In <span style="..."> the equals sign separates no name.
            if equals and TAG not in key and not PIECES.search(key):
                named[" ".join(key.lower().split())] = value.strip()
            else:
                values.append(argument.strip())
        given = Arguments(name, tuple(values), named, self._site.language or "en")
        if (text := _function(given, self._title)) is None:
            text, known = expand(given, alone=alone)
            self.unread[UNEXPANDED] += not known
        return self._piece(blocks(text) if "\n" in text else inline(text))

    def _link(self, target: str, label: str | None) -> str:
        target = " ".join(target.replace("_", " ").split())
        namespace = target.partition(":")[0].strip().lower() if ":" in target else ""
        if namespace in self._site.files:  # its caption, apart from the text around it: options are words and sizes
            params = map(str.strip, (label or "").split("|"))
            captions = [param for param in params if param and not _OPTION.fullmatch(param)]
            return self._piece(f"<div>{inline(captions[-1])}</div>") if captions else ""
        if namespace in self._site.categories:
            return ""
        label = label or target.removeprefix(":").removeprefix("#")
        return self._piece(inline(label.replace("\n", " ")))


def _function(given: Arguments, title: str) -> str | None:
    """What a parser function or variable leaves; None where the name is that of a template."""
    name, colon, first = given.name.partition(":")
    match name.strip().lower():
        case "pagename" | "fullpagename" if not colon:
            return title
        case "#if" | "#ifeq" | "#ifexpr" | "#ifexist" | "#switch":
            values = given.all() or list(given.named.values())
            return values[0] if values else ""
    return first.strip() if colon and name.strip().lower() in _FUNCTIONS else None
